import Core
import Glibc
import Logging
import Model

/// The temporary folder that contains all files of the demo.
struct DemoFolder: Sendable {
    private let folder: TemporaryFolder

    init() throws(Failure) { folder = try TemporaryFolder(named: "larder-demo") }

    var path: String { folder.path }
    var vault: String { path + "/vault" }
    var files: String { path + "/Cloud" }
    var config: String { path + "/config.yaml" }
    /// The folder in which a host notes what it knows beside its vaults.
    var state: String { path + "/state" }

    /// Writes a config with which the account can be inspected after the server has stopped.
    func writeConfig() throws(Failure) {
        let text = """
            accounts:
              - { name: demo, url: 'http://127.0.0.1:9/', vault: vault, files: Cloud }

            """
        try PrivateFile.put(Array(text.utf8), at: config)
    }

    /// Writes a config with which a host runs the account while the server runs, and the password that it needs.
    /// - Parameter plugin: The plugins of a library that are enabled too, each with all that a plugin can be granted.
    func writeConfig(for server: DemoChild.Contents, with plugin: DemoPlugin?) throws(Failure) {
        try PrivateFile.put(Array(server.password.utf8), at: path + "/password")
        func quoted(_ text: String) -> String { JSONValue.string(text).text }
        var lines = [
            "# The account of a demo, and of nobody else. Its password is worth nothing.",
            "accounts:",
            "  - name: demo",
            "    url: \(quoted(server.url))",
            "    username: \(quoted(server.user))",
            "    password: { file: password }",
            "    proxy: none",
            "    vault: vault",
            "    files: Cloud",
            "poll: 2s",
            "shutdown-timeout: 2s",
        ]
        let grants = PluginSettings.Grant.allCases.map(\.rawValue).joined(separator: ", ")
        if plugin != nil { lines.append("plugins:") }
        for id in plugin?.ids ?? [] {
            lines += [
                "  \(id.shortName):", "    library: \(quoted(plugin?.library ?? ""))", "    isolation: in-process",
                "    grant: [\(grants)]",
            ]
        }
        try PrivateFile.put(Array((lines.joined(separator: "\n") + "\n").utf8), at: config)
    }

    func remove() { folder.remove() }
}

/// A library of a demo's host, and what is in it.
struct DemoPlugin: Hashable, Sendable {
    /// The path of the library, absolute or below the demo's folder.
    var library: String
    var ids: [PluginID]

    /// Finds out which plugins are in a library. It is opened in a process of its own.
    /// - Parameters:
    ///   - file: The library.
    ///   - library: Its path in the config; nil for that of the file.
    /// - Throws: `badData` with the reason why it cannot be used.
    init(in file: String, as library: String? = nil, _ console: Console) async throws(Failure) {
        var log = LogConfig()
        log.level = .critical
        let config = Config(file: "", accounts: [], settings: Settings(), log: log, shown: [])
        let process = HostProcess(settings: config.settings, options: config.hostOptions(console))
        do throws(Failure) { ids = try await process.plugins(inLibrary: file) } catch {
            throw Failure(.badData, error.message, hint: error.advice)
        }
        self.library = library ?? file
    }
}
