import Glibc
import TestServer
import TestSupport
import Testing

/// Accounts of one host, each with a server of its own.
struct SeveralAccounts {
    let folder: String
    let servers: [String: TestServer]
    let larder: LarderCommand

    var log: String { "\(folder)/log" }
    var config: String { "\(folder)/config.yaml" }

    /// Starts a server for each account and stops them after `body`. The config has all accounts.
    static func running(_ names: [String], _ body: (Self) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var servers: [String: TestServer] = [:]
            for name in names { servers[name] = try await TestServer.start() }
            let fixture = Self(
                folder: folder, servers: servers,
                larder: LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/person"))
            try Files.makeFolder("\(folder)/person")
            try fixture.write(names)
            let result: Result<Void, any Error>
            do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
            for server in servers.values { await server.stop() }
            try result.get()
        }
    }

    /// The server of an account.
    subscript(name: String) -> TestServer {
        guard let server = servers[name] else { preconditionFailure("there is no account \(name)") }
        return server
    }

    /// Writes the config in one step.
    /// - Parameters:
    ///   - names: the accounts in the config.
    ///   - more: further lines of accounts, by the accounts' names.
    ///   - settings: further top-level lines.
    func write(_ names: [String], more: [String: [String]] = [:], settings: [String] = []) throws {
        var lines = ["poll: 1s", "accounts:"]
        for name in names {
            let server = self[name]
            try Files.write(server.configuration.password, to: "\(folder)/\(name).password", mode: 0o600)
            lines += [
                "  - name: \(name)", "    url: \(server.url)", "    username: \(server.configuration.user)",
                "    password: { file: \(name).password }",
            ]
            // YAML takes no key twice.
            if more[name]?.contains(where: { $0.hasPrefix("vault:") }) != true { lines.append("    vault: \(name)") }
            lines += (more[name] ?? []).map { "    \($0)" }
        }
        let text = (lines + settings).joined(separator: "\n") + "\n"
        try Files.write(text, to: "\(config).new", mode: 0o600)
        guard rename("\(config).new", config) == 0 else { throw SetupError("cannot rename the config") }
    }

    /// Starts the host.
    func start(_ more: String..., receiver: NotifyReceiver? = nil) throws -> ChildProcess {
        var larder = larder
        larder.environment["NOTIFY_SOCKET"] = receiver?.address
        return try larder.start(["run"] + more, errors: log)
    }

    /// Has the host reload the config, and waits until the log has the result.
    /// - Returns: the result's line.
    @discardableResult func reload(
        _ host: ChildProcess, _ place: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let before = try results.count
        host.send(SIGHUP)
        try await soon("the config is reloaded", beside: host, log: log, place) { try results.count > before }
        return try results.last ?? ""
    }

    /// The lines of the log about the ends of reloads.
    var results: [String] {
        get throws {
            try Files.text(log).split(separator: "\n").map(String.init).filter {
                $0.contains("The config was reloaded: ") || $0.contains("The config was not reloaded: ")
            }
        }
    }

    /// Returns the text of a local copy; nil if there is none.
    func text(_ account: String, _ path: String) throws -> String? {
        let copy = "\(folder)/\(account)/files/\(path)"
        return Files.exists(copy) ? try Files.text(copy) : nil
    }
}
