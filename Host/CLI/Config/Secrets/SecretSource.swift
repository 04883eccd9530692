import Glibc
import Model

/// Where a password or token is found. The secret itself never stands in the config.
enum SecretSource: Hashable, Sendable {
    /// An absolute path.
    case file(String)
    /// The name of an environment variable.
    case environment(String)
    /// A program and its arguments; its standard output is the secret.
    case command([String])

    /// The secret, one trailing newline dropped. A command, or a file that gives its bytes when it likes, is waited for
    /// 30 s in all; no thread of the pool waits.
    /// - Throws: `config`, without any part of the secret.
    func read() async throws(Failure) -> String {
        let bytes: [UInt8]
        switch self {
        case .file(let path):
            bytes = try await SecretFile(path: path).content(limit: Self.longest)
        case .environment(let name):
            guard let value = getenv(name) else {
                throw Failure(.config, "the environment variable \(name), which holds the secret, is not set")
            }
            bytes = Array(String(cString: value).utf8)
        case .command(let words):
            bytes = try await SecretCommand(words: words).output(limit: Self.longest)
        }
        return try Self.text(bytes)
    }

    /// Which writing of it a file is: its inode and time, and nothing of its content; nil for other sources, and
    /// without a file.
    var writing: String? {
        guard case .file(let path) = self else { return nil }
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino):\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// In bytes: no password or token is longer.
    static let longest = 65_536

    private static func text(_ bytes: [UInt8]) throws(Failure) -> String {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else { throw Failure(.config, "the secret is empty") }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 }) else {
            throw Failure(.config, "the secret contains control characters or is not UTF-8; it must be a single line")
        }
        return text
    }
}
