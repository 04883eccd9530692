import Model
import Synchronization
import TestSupport
import Testing

@testable import Core

@Suite struct PreviewTests {
    @Test("An explanation gives up a plugin that does not return, names it, and leaves the vault to its host")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let (library, ends) = ("\(folder)/fatal.so", "\(folder)/until")
            try await CompiledPlugin.build("fatal", to: library)
            var settings = Settings()
            settings.plugins = [
                PluginSettings(
                    id: PluginID("org.example.fatal"), library: library, isolation: .inProcess,
                    json: #"{"does": "hang", "in": "explain", "until": "\#(ends)"}"#)
            ]
            try await AccountFixture.running(settings: settings) { fixture in
                fixture.put("/a", "x")
                // The plugin's loop takes longer than the clock allows, which is no matter here.
                try await fixture.run()
                let process = try fixture.makeProcess()
                let preview = try await AccountPreview.open(fixture.bookmark, in: process)
                let said = Mutex<String?>(nil)
                let asking = Task {
                    do throws(Failure) {
                        _ = try await preview.explain(ItemPath(unchecked: "/a"))
                        said.withLock { $0 = "it ended" }
                    } catch {
                        said.withLock { $0 = error.message }
                    }
                }
                await until { Files.exists("\(ends).begun") }
                await until {
                    fixture.clock.advance(.seconds(100))
                    return said.withLock { $0 != nil }
                }
                await asking.value
                #expect(
                    said.withLock(\.self) == "the plugin org.example.fatal hangs: explain of /a did not return")
                try Files.write("", to: ends)
                await until { (try? Files.text(ends)) == "as it was" }
                try await preview.close()
                try await process.close()
            }
        }
    }
}
