import TestServer
import TestSupport

/// A person's account on a server, with its own config and home below a temporary folder.
struct Account {
    let folder: String
    /// The command that the person types.
    var larder: LarderCommand

    var vault: String { "\(folder)/vault" }
    /// The folder of the local copies.
    let files: String

    /// Makes the account's config and password file.
    /// - Parameters:
    ///   - files: the config's `files`; nil leaves the tree in the vault.
    ///   - more: further lines of the account, such as `tls: { trust: system }`.
    ///   - settings: further top-level lines of the config.
    init(
        in folder: String, url: String, user: String, password: String, files: String? = nil, more: [String] = [],
        settings: [String] = []
    ) throws {
        self.folder = folder
        self.files = files ?? "\(folder)/vault/files"
        try Files.write(password + "\n", to: "\(folder)/password", mode: 0o600)
        var lines = [
            "accounts:",
            "  - name: home",
            "    url: \(url)",
            "    username: \(user)",
            "    password: { file: \"\(folder)/password\" }",
            "    vault: \"\(folder)/vault\"",
        ]
        if let files { lines.append("    files: \"\(files)\"") }
        lines += more.map { "    " + $0 }
        try Files.write((lines + settings).joined(separator: "\n") + "\n", to: "\(folder)/config.yaml", mode: 0o600)
        try Files.makeFolder("\(folder)/home")
        larder = LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/home")
    }

    init(
        in folder: String, _ server: TestServer, files: String? = nil, more: [String] = [], settings: [String] = []
    ) throws {
        try self.init(
            in: folder, url: server.address, user: server.configuration.user, password: server.configuration.password,
            files: files, more: more, settings: settings)
    }

    /// Makes an account on a server that was started with `Account.login`.
    init(in folder: String, _ server: RealServer, more: [String] = [], settings: [String] = []) throws {
        try self.init(
            in: folder, url: server.url, user: Self.login.name, password: Self.login.password, more: more,
            settings: settings)
    }

    /// A line of an account without a network: at port 1 no proxy listens. The server's address stays what it is.
    static let offline = "proxy: http://127.0.0.1:1"

    static let login = (name: "ada", password: "correct horse")

    static var withLogin: RealServer.Options {
        var options = RealServer.Options()
        options.user = login
        return options
    }

    /// Returns the text of a local copy; nil if there is none.
    func text(_ path: String) throws -> String? {
        Files.exists("\(files)/\(path)") ? try Files.text("\(files)/\(path)") : nil
    }

    /// Returns all files of the tree that a program sees. The mark of a tree outside the vault is left out.
    func localFiles() throws -> [String] { try Files.filesBelow(files).filter { !$0.hasPrefix(".larder/") } }

    /// Returns the output of `diff -r` for the served folder and the tree; empty if they are equal.
    func difference(from data: String) async throws -> String {
        let result = try await run("diff", ["-r", "--no-dereference", data, files])
        return result.exitCode == 0 ? "" : String((result.output + result.errors).prefix(2_000))
    }
}

extension TestServer {
    /// The address that a person writes into the config: the server's root if the server's status document tells where
    /// the files are, else the folder.
    fileprivate var address: String { configuration.manner.statusDocument ? url : folderURL }
}

extension ProcessResult {
    /// The text that a failed expectation shows.
    var summary: String { "\(status)\n\(output.suffix(2_000))\n\(errors.suffix(4_000))" }
}
