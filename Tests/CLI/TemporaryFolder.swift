import Glibc
import TestSupport

/// A temporary folder that is removed with the value of the suite that made it.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/larder-cli-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("no temporary folder: \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Files.remove(path) }

    func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
        try Files.write(text, to: path + "/" + name, mode: mode)
    }
}
