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

extension SecretSource {
    /// Decodes `{ file: … }`, `{ env: … }` or `{ command: […] }`.
    init?(_ pair: ConfigPair, at keyPath: String, in decoding: ConfigDecoding) {
        let howTo = "write { file: FILE }, { env: NAME } or { command: [PROGRAM, ARGUMENT…] }"
        guard pair.value.pairs != nil, !pair.value.isNull else {
            // What stands here may be the secret: it is not repeated.
            decoding.refuse(pair.value.source, "`\(keyPath)`: a secret never stands in the config itself; \(howTo)")
            return nil
        }
        var map = ConfigMap(pair.value, at: keyPath, in: decoding)
        let insecure = map.take("insecure").map { decoding.bool($0, at: keyPath + ".insecure") } ?? false
        let file = map.take("file")
        let variable = map.take("env")
        let command = map.take("command")
        map.refuseUnknown()
        guard [file, variable, command].compactMap({ $0 }).count == 1 else {
            decoding.refuse(pair.source, "`\(keyPath)` needs one source; \(howTo)")
            return nil
        }
        if let file, let path = decoding.path(file, at: keyPath + ".file") {
            if !insecure { decoding.refuseReadable(path, file.value.source, keyPath) }
            self = .file(path)
        } else if let variable, let name = decoding.text(variable, at: keyPath + ".env") {
            self = .environment(name)
        } else if let command, let words = decoding.texts(command, at: keyPath + ".command") {
            guard !words.isEmpty else {
                decoding.refuse(command.value.source, "`\(keyPath).command` names no program")
                return nil
            }
            // A program's arguments may hold a secret of their own.
            decoding.show(keyPath + ".command", .text(words[0] + (words.count > 1 ? " …" : "")), command.value.source)
            self = .command(words)
        } else {
            return nil
        }
    }
}

extension ConfigDecoding {
    fileprivate func refuseReadable(_ path: String, _ source: ConfigSource, _ keyPath: String) {
        var status = stat()
        // A file that is not there now may be when the secret is needed; it is missed then.
        guard stat(path, &status) == 0, status.st_mode & 0o044 != 0 else { return }
        refuse(
            source,
            "`\(keyPath)`: others can read \(path); run `chmod 600 \(path)`, or write `insecure: true` beside `file` "
                + "if that is meant")
    }
}
