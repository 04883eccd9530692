import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

struct UploadedBelowPinTests {
    @Test(
        "P21, S35: files put below a pinned folder are sent once each, and none is fetched", arguments: [true, false])
    func sentOnce(_ isFamily: Bool) async throws {
        try await AccountFixture.running(isFamily ? Manner() : .plain) { fixture in
            fixture.put("/d/first", "first")
            try await fixture.pin("/d")
            try await fixture.runWell()
            let host = try await fixture.ready()
            let mine = fixture.bookmark.vault + "/../mine"
            var locks: [any Sendable] = []
            let changes = try (0..<40).map { number in
                try Files.write("mine \(number)", to: mine)
                let (snapshot, lock) = try Snapshots.take(
                    of: mine, to: ItemPath(unchecked: "/d/\(number)"), for: fixture.bookmark, withSHA1: true)
                locks.append(lock)
                return ChangeRequest.put(snapshot, ItemPath(unchecked: "/d/\(number)"), replaces: false)
            }
            _ = try await host.perform(ServerChange(changes, waits: false))
            locks = []
            let outcome = await host.runOnce()
            #expect(outcome.worst == nil && outcome.leftCount == 0, "\(outcome.failures)")
            #expect(fixture.requests("PUT").count == 40)
            #expect(fixture.downloads == [])
            #expect(!fixture.log.messages.contains { $0.contains("has changed on the server") })
            #expect(try await fixture.item("/d/39")?.downloadTrigger == .availableOffline)
            try await fixture.runWell()
            // Elsewhere what was listed within a second of its change is fetched once more.
            #expect(!isFamily || fixture.downloads == [])
        }
    }
}
