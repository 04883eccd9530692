import DemoServer
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

/// Tests of downloads that fail and are tried again by themselves.
struct FailedDownloadTests {
    @Test("S52, H1: a run leaves what waits for its next try, and names it; a person's request asks at once")
    func asked() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a", "one")
            try await fixture.pin("/a")
            let fault = fixture.server.add(Fault(.status(403), method: "GET", path: "/a"))
            try await fixture.runBadly()
            #expect(fixture.downloads == ["/a"])
            let outcome = try await fixture.runBadly()
            #expect(outcome.worst == .denied && outcome.issues.map(\.subject) == ["/a"])
            #expect(fixture.downloads == [])
            let get = Copies.Get(ItemPath(unchecked: "/a"), waits: true)
            let refused = try await fixture.host.perform(get)
            #expect(fixture.downloads == ["/a"] && refused.issues.count == 1)
            fixture.server.remove(fault)
            let fetched = try await fixture.host.perform(get)
            #expect(fetched.issues.isEmpty && fetched.failures.isEmpty && fetched.waiting == 0)
            #expect(try fixture.text("/a") == "one")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S52: of a folder of files that fail the log names a few, and the issues all")
    func quietly() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(5))) { fixture in
            for number in 0..<30 { fixture.put("/d/\(number)", "\(number)") }
            try await fixture.pin("/d")
            for number in 0..<30 { fixture.server.add(Fault(.status(403), method: "GET", path: "/d/\(number)")) }
            let outcome = try await fixture.runBadly()
            #expect(outcome.issues.count == 30)
            let lines = fixture.log.messages.filter { $0.hasPrefix("info: ") && $0.contains(" failed: ") }
            #expect((1...10).contains(lines.count), "\(lines)")
        }
    }

    @Test("S52, P29: unpinned and pinned again, or with another version on the server, it is fetched at once")
    func wantedAnew() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a", "one")
            fixture.put("/b", "one")
            try await fixture.pin("/a")
            try await fixture.pin("/b")
            let faults = ["/a", "/b"].map { fixture.server.add(Fault(.status(403), method: "GET", path: $0)) }
            try await fixture.runBadly()
            #expect(try await fixture.issues().count == 2)
            for fault in faults { fixture.server.remove(fault) }
            try await fixture.unpin("/a")
            try await fixture.run()
            try await fixture.pin("/a")
            fixture.server.tree.put("/b", "another", modified: 1_700_000_100)
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "one" && fixture.text("/b") == "another")
            #expect(try await fixture.issues().isEmpty)
        }
    }
}
