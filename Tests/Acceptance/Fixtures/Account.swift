import TestServer
import TestSupport

/// A person's account on a server, with a config and a home of its own below a temporary folder.
struct Account {
    let folder: String
    /// The command that the person types.
    var larder: LarderCommand

    var vault: String { "\(folder)/vault" }
    /// Where the local copies are.
    let files: String

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

    /// For a server that was started with `Account.login`.
    init(in folder: String, _ server: RealServer, settings: [String] = []) throws {
        try self.init(
            in: folder, url: server.url, user: Self.login.name, password: Self.login.password, settings: settings)
    }

    static let login = (name: "ada", password: "correct horse")

    static var withLogin: RealServer.Options {
        var options = RealServer.Options()
        options.user = login
        return options
    }

    /// What a local copy has in it; nil if there is none.
    func text(_ path: String) throws -> String? {
        Files.exists("\(files)/\(path)") ? try Files.text("\(files)/\(path)") : nil
    }

    /// Everything below the tree that a program sees: the mark of a tree outside the vault is no part of it.
    func localFiles() throws -> [String] { try Files.filesBelow(files).filter { !$0.hasPrefix(".larder/") } }

    /// What `diff -r` says of the served folder and the tree; empty when they are the same.
    func difference(from data: String) async throws -> String {
        let result = try await run("diff", ["-r", "--no-dereference", data, files])
        return result.exitCode == 0 ? "" : String((result.output + result.errors).prefix(2_000))
    }
}

extension TestServer {
    /// What a person writes into the config: the server's root if it tells where the files are, else the folder.
    fileprivate var address: String { configuration.manner.statusDocument ? url : folderURL }
}

extension ProcessResult {
    /// What a failed expectation shows.
    var summary: String { "\(status)\n\(output.suffix(2_000))\n\(errors.suffix(4_000))" }
}
