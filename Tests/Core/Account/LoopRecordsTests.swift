import Database
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("What loops keep, in the work of processors", .timeLimit(.minutes(5)))
struct LoopRecordsTests {
    /// Runs an account with a loop, and with the processor of another plugin that reads what the loop keeps.
    private func withLibrarian(_ body: (AccountFixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var loopers = Loopers(in: folder)
            try await loopers.add(pages: 2)
            let library = "\(folder)/librarian.so"
            try await CompiledPlugin.build("librarian", to: library)
            let librarian = PluginSettings(
                id: PluginID("org.example.librarian"), library: library, isolation: .inProcess,
                json: #"{"collection": "org.example.looper"}"#)
            let settings = Settings(poll: TestClock.poll, walk: TestClock.poll, plugins: loopers.plugins + [librarian])
            try await AccountFixture.running(
                settings: settings, clock: .account(patience: .seconds(5)), body)
        }
    }

    @Test("G45: a run fetches what a processor finds in the records that a loop of another plugin kept in it")
    func once() async throws {
        try await withLibrarian { fixture in
            for path in ["/refreshed", "/count", "/other"] { fixture.put(path, path) }
            // Records of the first run may come before the items that they are about.
            for _ in 1...2 { try await fixture.runWell() }
            #expect(try fixture.text("/count") == "/count")
            #expect(try fixture.text("/refreshed") == "/refreshed")
            let tree = try fixture.tree()
            #expect(!tree.contains { $0.hasSuffix("other") })
        }
    }

    @Test("G45: a running host's processor learns of each turn that changed records")
    func running() async throws {
        try await withLibrarian { fixture in
            for path in ["/refreshed", "/count", "/page 2", "/other"] { fixture.put(path, path) }
            try await fixture.whileRunning { _ in
                try await fixture.until {
                    try await fixture.loop()?.eventID == EventID("2")
                        || {
                            fixture.clock.advance(.seconds(80))
                            return false
                        }()
                }
                for path in ["/refreshed", "/count", "/page 2"] {
                    try await fixture.until { try await fixture.item(path)?.cloudStatus == .localCopy }
                }
                #expect(try await fixture.item("/other")?.cloudStatus == .cloudOnly)
                let seen = fixture.log.messages.filter { $0.hasPrefix("info: records:") }
                #expect(seen.last == "info: records: count=2 page 1= page 2= refreshed=")
            }
        }
    }
}
