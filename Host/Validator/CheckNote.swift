import Glibc
import Model
import PluginHost

/// What a check is doing, in a mapped file: the plugin, and what it gets. Another process reads it when the check's
/// process has ended.
///
/// Unchecked: one thread writes at a time.
public final class CheckNote: @unchecked Sendable {
    private static let size = 4_096
    private static let room = 1_024
    private let memory: UnsafeMutableRawPointer

    static func board(in folder: String) -> String { folder + "/calls" }
    private static func path(in folder: String) -> String { folder + "/doing" }

    init(in folder: String) throws(Failure) {
        let path = Self.path(in: folder)
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(.localIO, "\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let code = posix_fallocate(file, 0, off_t(Self.size))
        guard code == 0, let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            memory != MAP_FAILED
        else { throw Failure(.localIO, "\(path): \(String(cString: strerror(code == 0 ? errno : code)))") }
        self.memory = memory
    }

    deinit { munmap(memory, Self.size) }

    func write(plugin: String?, doing: String?) {
        put(plugin ?? "", at: 0)
        write(doing: doing)
    }

    func write(doing: String?) { put(doing ?? "", at: Self.room) }

    private func put(_ text: String, at place: Int) {
        let bytes = Array(text.utf8.prefix(Self.room - 1))
        memset(memory + place, 0, Self.room)
        _ = bytes.withUnsafeBytes { memcpy(memory + place, $0.baseAddress ?? UnsafeRawPointer(memory), $0.count) }
    }

    /// Completes what is found from the end of a check's process: the plugin, what it got, and the call that was under
    /// way.
    /// - Parameters:
    ///   - finding: What the end of the process tells.
    ///   - folder: The folder of the check.
    public static func complete(_ finding: Finding, from folder: String) -> Finding {
        var finding = finding
        finding.endedProcess = true
        var bytes = [UInt8](repeating: 0, count: size)
        let file = open(path(in: folder), O_RDONLY | O_CLOEXEC)
        if file >= 0 {
            _ = read(file, &bytes, size)
            close(file)
        }
        func text(_ place: Int) -> String? {
            let text = String(decoding: bytes[place...].prefix { $0 != 0 }, as: UTF8.self)
            return text.isEmpty ? nil : text
        }
        finding.plugin = text(0)
        finding.doing = text(room)
        if let call = CallBoard.notes(at: board(in: folder)).first {
            finding.what += ", in \(call.callText)"
            finding.item = call.subject
        }
        return finding
    }
}
