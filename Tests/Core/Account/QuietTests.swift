import Core
import Model
import TestServer
import TestSupport
import Testing

@Suite("What a run says, and how often")
struct QuietTests {
    @Test("a file that waits for a person is told as an issue, and not a second time as left")
    func once() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(15))) { fixture in
            fixture.put("/a/broken", "never")
            fixture.server.add(Fault(.wrongChecksum, method: "GET", path: "/a/broken"))
            try await fixture.pin("/a")
            let outcome = try await fixture.runBadly()
            #expect(outcome.leftCount == 1 && outcome.left.count == 1)
            #expect(outcome.issues.map(\.subject) == ["/a/broken"])
            #expect(outcome.failures.map(\.message) == [])
        }
    }

    @Test("a server that is away is named once, however much waits for it")
    func away() async throws {
        try await AccountFixture.running { fixture in
            for index in 0..<20 { fixture.put("/a/\(index)", "content") }
            try await fixture.runWell()
            try await fixture.pin("/a")
            await fixture.server.stop()
            let outcome = try await fixture.runBadly()
            #expect(outcome.leftCount == 20)
            #expect(outcome.failures.count == 1, "\(outcome.failures.map(\.message))")
        }
    }

    @Test("no download is tried before the server was found, and then all are without another's asking")
    func beforeConnecting() async throws {
        try await AccountFixture.running { fixture in
            for index in 0..<20 { fixture.put("/a/\(index)", "content") }
            try await fixture.runWell()
            try await fixture.pin("/a")
            fixture.server.add(Fault(.delay(.milliseconds(500)), path: "/status.php"))
            let before = fixture.log.messages.count
            try await fixture.runWell()
            #expect(fixture.downloads.count == 20)
            let log = fixture.log.messages.dropFirst(before)
            #expect(!log.contains { $0.contains("The action ") && $0.contains(" failed: ") }, "\(log)")
        }
    }
}
