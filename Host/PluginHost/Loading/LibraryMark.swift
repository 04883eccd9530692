import Crypto
import Glibc
import Model

/// The facts by which a library's file is known again.
enum LibraryMark {
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

    /// Returns the SHA-256 of the file's bytes. Blocks.
    static func digest(of path: String) throws(Refusal) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            guard count > 0 else { return Array(hash.finalize()) }
            chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
