import Connection
import Database
import DemoServer
import ItemList
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

/// Favorites that another client of the account marked.
struct FavoritesTests {
    private func isFavorite(_ fixture: AccountFixture, _ path: String) async throws -> Bool? {
        try await fixture.item(path)?.isFavorite
    }

    @Test("a favorite that another client set or removed arrives, though no ETag tells of it")
    func elsewhere() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/b/2", "/c"] { fixture.put(path, path) }
            try await fixture.runWell()
            #expect(fixture.requests("REPORT") == ["/"])
            for path in ["/a/b/2", "/a"] { fixture.server.tree.setFavorite(path, true) }
            try await fixture.runWell()
            #expect(try await isFavorite(fixture, "/a/b/2") == true)
            #expect(try await isFavorite(fixture, "/a") == true)
            #expect(try await isFavorite(fixture, "/c") == false)
            #expect(fixture.listings == ["/"])
            fixture.server.tree.setFavorite("/a/b/2", false)
            try await fixture.runWell()
            #expect(try await isFavorite(fixture, "/a/b/2") == false)
            #expect(try await isFavorite(fixture, "/a") == true)
        }
    }

    @Test(
        "a server that does not tell favorites is asked once, and nothing is believed to be unmarked",
        arguments: [405, 501])
    func refused(status: Int) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "a")
            fixture.server.tree.setFavorite("/a", true)
            fixture.server.behave { $0.favoritesStatus = status }
            try await fixture.runWell()
            #expect(try await isFavorite(fixture, "/a") == true)
            fixture.server.behave { ($0.favoritesStatus, $0.favoritesAreForgotten) = (nil, true) }
            try await fixture.runWell()
            #expect(try await isFavorite(fixture, "/a") == true)
        }
    }

    @Test("a mark that this account is about to set stays, whatever the server tells until then")
    func pending() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b"] { fixture.put(path, path) }
            fixture.server.tree.setFavorite("/b", true)
            try await fixture.runWell()
            let host = try await fixture.ready()
            host.engine.setOnline(false)
            for (path, isMarked) in [("/a", true), ("/b", false)] {
                _ = try await host.database.write { [engine = host.engine] tx in
                    try engine.enqueue(.change(.setFavorite(ItemPath(unchecked: path), isMarked)), in: tx)
                }
            }
            _ = try await host.connection.connect()
            let outcome = try await host.list.updateFavorites()
            #expect(outcome == .updated(changed: false))
            #expect(try await isFavorite(fixture, "/a") == true)
            #expect(try await isFavorite(fixture, "/b") == false)
        }
    }

    @Test("a mark in a folder that is about to move stays, and says nothing of the other marks")
    func moving() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/d/x", "/z"] {
                fixture.put(path, path)
                fixture.server.tree.setFavorite(path, true)
            }
            try await fixture.runWell()
            let host = try await fixture.ready()
            host.engine.setOnline(false)
            _ = try await host.database.write { [engine = host.engine] tx in
                try engine.enqueue(.change(.move(ItemPath(unchecked: "/d"), to: ItemPath(unchecked: "/e"))), in: tx)
            }
            _ = try await host.connection.connect()
            #expect(try await host.list.updateFavorites() == .updated(changed: false))
            #expect(try await isFavorite(fixture, "/e/x") == true)
            // The server has nothing at the new place yet, and shows that the other mark is still there.
            fixture.server.behave { $0.favoritesAreForgotten = true }
            #expect(try await host.list.updateFavorites() == .refused)
            #expect(try await isFavorite(fixture, "/z") == true)
        }
    }
}
