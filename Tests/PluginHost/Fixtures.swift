import Logging
import Model
import TestSupport

@testable import PluginHost

/// The folder of plugins and the config for them.
struct PluginFolder {
    var path: String
    var log = CollectedLog()

    static let probe = ProbeCommand(arguments: ["\(Build.root)/.build/debug/larder", "__probe"])
    static let variant = PluginID("org.example.variant")

    /// Loads the plugins that the config names. A plugin in C runs in process, as the config says.
    func load(
        _ plugins: [PluginSettings], builtIn: String? = nil, system: String? = nil,
        probe: ProbeCommand = PluginFolder.probe,
        memory: (any ProbeMemory)? = nil, clock: HostClock = .system
    ) async -> PluginHost {
        let settings = Settings(pluginPaths: [path], plugins: plugins)
        let host = PluginHost(
            builtIn: builtIn ?? "\(path)/none", system: system, settings: settings, probe: probe, memory: memory,
            clock: clock,
            logger: log.logger)
        await host.load()
        return host
    }

    /// Returns the report about a variant that is built with these macros.
    func report(
        ofVariant defines: [String], id: PluginID = variant, memory: (any ProbeMemory)? = nil,
        probe: ProbeCommand = PluginFolder.probe, settings: String = "{}"
    ) async throws -> PluginReport? {
        let library = "\(path)/v.so"
        try await CompiledPlugin.build("variant", to: library, defines: defines)
        let host = await load(
            [PluginSettings(id: id, library: library, isolation: .inProcess, json: settings)], probe: probe,
            memory: memory)
        let report = await host.reports().first { $0.id == id }
        await host.shutDown()
        return report
    }
}

func withPluginFolder<Result>(_ body: (PluginFolder) async throws -> Result) async throws -> Result {
    try await withTemporaryFolder { path in
        try Files.makeFolder("\(path)/plugins")
        return try await body(PluginFolder(path: "\(path)/plugins"))
    }
}

/// A probe memory that keeps its entries in memory.
actor TestMemory: ProbeMemory {
    private(set) var known: [[UInt8]: ProbedLibrary] = [:]
    private(set) var asked = 0

    func library(digest: [UInt8], hostMinor: Int) -> ProbedLibrary? {
        asked += 1
        return known[digest]
    }
    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) { known[digest] = library }
}
