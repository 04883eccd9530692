import TestSupport
import Testing

@Suite struct DemoCommandTests {
    @Test("the demo needs no config, shows the program at work, and leaves nothing behind")
    func demo() async throws {
        try await withTemporaryFolder { home in
            let larder = LarderCommand(config: "\(home)/none.yaml", home: home)
            var demo = larder
            demo.hasLoops = true
            demo.environment["TMPDIR"] = home
            let result = try await demo("demo")
            #expect(result.exitCode == 0, "\(result.summary)")
            for plugin in ["available-offline", "download-expiration", "vacuum", "version-updates", "core-loop"] {
                #expect(result.output.contains("The plugin \(plugin) is ready"), "\(result.summary)")
            }
            #expect(result.output.contains("2 calendars with 5 entries"), "\(result.summary)")
            #expect(result.lines.count > 5, "\(result.summary)")
            #expect(try Files.names(in: home) == [])
        }
    }
}
