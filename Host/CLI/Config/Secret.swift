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

    /// The secret, one trailing newline dropped. Runs a command for at most 30 s; no thread of the pool waits for it.
    /// - Throws: `config`, without any part of the secret.
    func read() async throws(Failure) -> String {
        let bytes: [UInt8]
        switch self {
        case .file(let path):
            do {
                bytes = try readFile(path, limit: Self.longest)
            } catch {
                throw Failure(.config, "the secret's file cannot be read: \(error.message)")
            }
        case .environment(let name):
            guard let value = getenv(name) else {
                throw Failure(.config, "the variable \(name), which holds the secret, is not set")
            }
            bytes = Array(String(cString: value).utf8)
        case .command(let words):
            bytes = try await SecretCommand(words: words).output(limit: Self.longest)
        }
        return try Self.text(bytes)
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
            throw Failure(.config, "the secret has control characters or is not UTF-8; one line is expected")
        }
        return text
    }
}
