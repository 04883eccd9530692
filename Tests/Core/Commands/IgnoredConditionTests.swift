import DemoServer
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

struct IgnoredConditionTests {
    @Test(
        "S8 S9: a server that was once seen to ignore a condition is asked before each upload, also by the next process"
    )
    func remembered() async throws {
        var manner = Manner()
        manner.conditions = false
        try await AccountFixture.running(manner) { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            // Somebody writes what nobody here has seen.
            fixture.put("/first", "of somebody else")
            fixture.put("/second", "of somebody else")
            func put(_ path: String) async throws {
                let mine = fixture.bookmark.vault + "/../mine"
                try Files.write("mine", to: mine)
                let (snapshot, lock) = try Snapshots.take(
                    of: mine, to: ItemPath(unchecked: path), for: fixture.bookmark, withSHA1: true)
                _ = try await fixture.host.perform(
                    ServerChange([.put(snapshot, ItemPath(unchecked: path), replaces: false)], waits: true))
                withExtendedLifetime(lock) {}
            }
            func text(_ path: String) -> String? {
                fixture.server.tree.bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
            }
            try await put("/first")
            #expect(text("/first") == "mine")
            let told = try #require(try await fixture.issues().first)
            #expect(told.code == "upload.replaced" && told.message.contains("/first"))
            try await fixture.restart()
            try await put("/second")
            #expect(text("/second") == "of somebody else")
            #expect(try await fixture.issues().map(\.code).sorted() == ["upload.conflict", "upload.replaced"])
        }
    }
}
