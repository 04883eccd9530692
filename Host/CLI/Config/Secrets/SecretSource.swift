import Glibc
import Model

/// The source of a password or token. The secret itself is never in the config.
enum SecretSource: Hashable, Sendable {
    /// A file, by its absolute path.
    case file(String)
    /// A credential that the service manager hands to this process, by its name and the folder of all credentials. The
    /// folder is nil if this process has none.
    case credential(String, folder: String?)
    /// An environment variable, by its name.
    case environment(String)
    /// A program and its arguments. The program's standard output is the secret.
    case command([String])

    /// The absolute path of the secret's file; nil if the secret is in no file.
    var file: String? {
        switch self {
        case .file(let path): path
        case .credential(let name, let folder): folder.map { "\($0)/\(name)" }
        case .environment, .command: nil
        }
    }

    /// Reads the secret and drops one trailing newline. Waits at most 30 s in all for a command, or for a file whose
    /// content comes late; no thread of the pool is blocked.
    /// - Throws: `config`, without any part of the secret.
    func read() async throws(Failure) -> String {
        let bytes: [UInt8]
        switch self {
        case .file(let path):
            bytes = try await SecretFile(path: path).content(limit: Self.longest)
        case .credential(let name, nil):
            throw Failure(
                .config,
                "$CREDENTIALS_DIRECTORY, the folder with the credential \(name), is not set; start Larder as a service "
                    + "that has `LoadCredential=\(name):FILE`, or write { file: FILE } instead")
        case .credential(let name, let folder?):
            bytes = try await SecretFile(path: "\(folder)/\(name)").content(limit: Self.longest)
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

    /// A text that changes when the secret's file is written anew. It consists of the file's device, inode and
    /// modification time, and contains nothing of the content. Nil for other sources, and if there is no file.
    var writing: String? {
        guard let path = file else { return nil }
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino):\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// The largest length of a secret, in bytes.
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
