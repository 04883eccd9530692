import TestSupport
import Testing

/// Tests of the plugins' built libraries.
@Suite struct LibraryTests {
    @Test(
        "GL1: a plugin's library exports its entry and nothing else, and needs no Foundation",
        arguments: [
            "AvailableOffline", "DownloadExpiration", "Vacuum", "VersionUpdates", "CoreLoop", "CalendarLoop",
            "ShareLoop", "Rules",
        ])
    func exports(_ plugin: String) async throws {
        let library = try PluginFixture.library(ofPlugin: plugin)
        let symbols = try await mustRun(
            "nm", ["--dynamic", "--defined-only", "--extern-only", "--format=just-symbols", library])
        #expect(symbols == "larder_plugin_entry_v1\n")
        let needed = try await mustRun("readelf", ["--dynamic", "--wide", library])
        #expect(!needed.contains("Foundation"))
        #expect(needed.contains("NODELETE"))
    }
}
