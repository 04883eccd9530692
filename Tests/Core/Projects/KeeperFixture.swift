import Model
import PluginHost
import Projects
import TestSupport
import Warehouse

@testable import Core

/// A plugin in C that works on projects as a test says, and the folder of these projects. There is no server.
struct KeeperFixture: Sendable {
    let folder: String
    let base: String
    let log: CollectedLog
    let host: PluginHost
    let plugin: PluginInstance

    static let id = PluginID("org.example.keeper")

    private var script: String { "\(folder)/script" }

    /// Lets the plugin carry out lines in a processor's call.
    /// - Returns: the results that the plugin wrote for the lines.
    @discardableResult
    func callAsFunction(_ lines: String...) async throws -> [String] {
        try Files.write(lines.joined(separator: "\n") + "\n", to: script)
        Files.remove(script + ".out")
        try await plugin.withProcessor { _ = $0.didPassTrigger(.itemListUpdateCompleted) }
        return try said()
    }

    func said() throws -> [String] {
        Files.exists(script + ".out")
            ? try Files.text(script + ".out").split(separator: "\n").map(String.init) : []
    }

    /// Returns the id of the project that the plugin worked on last.
    func project() async throws -> String {
        let lines = try await self("id")
        return String(lines.last?.dropFirst(3) ?? "")
    }

    /// Returns the storage as a command opens it.
    func storage(for owner: String = "org.larder.cli") -> ProjectStorage { ProjectStorage(base: base, bundleID: owner) }

    /// Returns the number of bytes in the plugin's projects.
    func bytes() throws -> Int { try Files.filesBelow(base).reduce(0) { try $0 + Files.read("\(base)/\($1)").count } }
}

/// Runs `body` with the plugin.
/// - Parameters:
///   - start: the script that the plugin carries out in its start.
///   - base: the folder of the projects; nil takes a folder of the test.
func withKeeper(
    defines: [String] = [], quota: Int64 = PluginSettings.defaultProjectQuota, isReadOnly: Bool = false,
    start: String? = nil, base: String? = nil, in folder: String? = nil,
    _ body: (KeeperFixture) async throws -> Void
) async throws {
    guard let folder else {
        return try await withTemporaryFolder { folder in
            try await withKeeper(
                defines: defines, quota: quota, isReadOnly: isReadOnly, start: start, base: base, in: folder, body)
        }
    }
    let library = "\(folder)/keeper.so"
    try await CompiledPlugin.build("keeper", to: library, defines: defines)
    if let start { try Files.write(start + "\n", to: "\(folder)/script.start") }
    let base = base ?? "\(folder)/projects"
    let log = CollectedLog()
    let settings = PluginSettings(
        id: KeeperFixture.id, library: library, isolation: .inProcess, json: #"{"script": "\#(folder)/script"}"#,
        projectQuota: quota)
    let host = PluginHost(
        builtIn: "\(folder)/none", settings: Settings(plugins: [settings]),
        probe: ProbeCommand(arguments: [try Build.larder, "__probe"]), memory: nil, logger: log.logger)
    await host.load()
    let projects = AccountProjects(base: base, isReadOnly: isReadOnly, quota: { _ in quota },
        reserved: [PolicyHistory.bundleID: "the history of policies"], sourceRefusal: ProjectSources.refusal,
        clock: .system)
    let plugins = await host.start(AccountEnvironment(name: "test", logger: log.logger, projects: projects))
    guard let plugin = plugins.first else { throw SetupError("\(log.messages)") }
    try await body(KeeperFixture(folder: folder, base: base, log: log, host: host, plugin: plugin))
    await host.stop(plugins)
    await host.shutDown()
}
