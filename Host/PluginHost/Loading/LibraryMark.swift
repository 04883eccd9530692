import Digests
import Glibc
public import Model

/// The facts by which a library's file is known again.
public enum LibraryMark {
    /// Returns the file's mark, which differs for another file and for the same file after a write; nil if it cannot be
    /// read.
    static func text(of path: String) -> String? {
        var info = stat()
        return stat(path, &info) == 0 ? text(info) : nil
    }

    static func text(_ info: stat) -> String {
        "\(info.st_dev) \(info.st_ino) \(info.st_size) \(Timestamp(info.st_mtim).nanoseconds) "
            + "\(Timestamp(info.st_ctim).nanoseconds)"
    }

    /// Returns a mark with the digest of the bytes that were opened, by which another file with the same bytes is told
    /// from other ones.
    static func text(_ mark: String, digest: [UInt8]) -> String { "\(mark) \(hexadecimal(digest))" }

    /// Tells whether the file at a path is the one with a mark, unwritten since. Unlike the mark, that does not depend on
    /// the file's owner and rights.
    static func isOpened(_ mark: String, at path: String) -> Bool {
        func parts(_ mark: String) -> ArraySlice<Substring> { mark.split(separator: " ").prefix(4) }
        return text(of: path).map { parts($0) == parts(mark) } ?? false
    }

    /// Returns a remark about a path from which a host has opened a library, if that is no longer the library there.
    /// Blocks.
    /// - Parameters:
    ///   - path: The path of the library.
    ///   - mark: The mark of the file that the host opened.
    public static func remark(on path: String, openedWith mark: String) -> String? {
        remark(onDisk(path, openedWith: mark))
    }

    static func remark(_ onDisk: PluginReport.OnDisk) -> String? {
        let what: String
        switch onDisk {
        case .same: return nil
        case .other: what = "another library lies there now"
        case .missing: what = "its library is gone"
        }
        return "\(what); the host goes on with the one that it opened until it is restarted"
    }

    /// Returns what lies at a path from which a host has opened a library. Reads the file if its mark has changed and its
    /// size has not. Blocks.
    /// - Parameter mark: The mark of the file that the host opened, with or without a digest.
    public static func onDisk(_ path: String, openedWith mark: String) -> PluginReport.OnDisk {
        if isOpened(mark, at: path) { return .same }
        guard let now = text(of: path) else { return access(path, F_OK) == 0 ? .other : .missing }
        let parts = mark.split(separator: " ")
        guard parts.count == 6, now.split(separator: " ")[2] == parts[2] else { return .other }
        do throws(Refusal) {
            return hexadecimal(try digest(of: path)).hasSameBytes(as: String(parts[5])) ? .same : .other
        } catch {
            return .other
        }
    }

    /// Returns the SHA-256 of the file's bytes. Blocks.
    static func digest(of path: String) throws(Refusal) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }
        var hash = MessageDigest(.sha256)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            guard count > 0 else { return hash.value }
            chunk.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
