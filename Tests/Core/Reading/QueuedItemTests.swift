import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

struct QueuedItemTests {
    @Test("S7: a new version that waits shows its size and time, on the server are still the old ones")
    func newVersion() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "old")
            try await fixture.runWell()
            let mine = fixture.bookmark.vault + "/../mine"
            func shown() async throws -> Item {
                let reader = try AccountReader.open(fixture.bookmark)
                let item = try await reader.item(at: ItemPath(unchecked: "/a")).item
                try reader.close()
                return item
            }
            for text in ["much newer", "the newest of all"] {
                try Files.write(text, to: mine)
                let (snapshot, _) = try Snapshots.take(
                    of: mine, to: ItemPath(unchecked: "/a"), for: fixture.bookmark, withSHA1: true)
                let change = ChangeRequest.put(snapshot, ItemPath(unchecked: "/a"), replaces: true)
                _ = try await fixture.host.perform(ServerChange([change], waits: false))
                let item = try await shown()
                #expect(item.size == Int64(text.utf8.count) && item.lastModified == snapshot.modified)
                #expect(try await fixture.item("/a")?.size == 3)
            }
            try await fixture.runWell()
            #expect(try await shown().size == 17)
        }
    }
}
