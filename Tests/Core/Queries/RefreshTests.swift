import Database
import DemoServer
import ItemList
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

/// Tests of readers of a live query that have the server asked for the folder.
@Suite("Refreshed queries", .timeLimit(.minutes(20)))
struct RefreshTests {
    @Test("U1: a reader may have the folder listed first, and is not told that its list is current before")
    func refresh() async throws {
        try await AccountFixture.atWork(.plain) { fixture in
            for path in ["/d/1", "/d/below/2", "/other/3"] { fixture.put(path, "x") }
        } body: { fixture in
            let query = LiveQuery(.contents(of: ItemPath(unchecked: "/d")))
            fixture.put("/d/new", "y")
            // The walk has listed the folder just now.
            fixture.clock.advance(.seconds(11))
            fixture.server.forgetRequests()
            let lastScan = { try await fixture.host.database.read { try $0.scanHistory().lastScan } }
            let before = try await lastScan()
            let first = try await fixture.host.read(query, refreshes: true)
            defer { first.end() }
            let second = try await fixture.host.read(query, refreshes: true)
            defer { second.end() }
            for reader in [first, second] {
                var paths: Set<String> = []
                var state = LiveQueryState.contentsFromCache
                while state != .idle {
                    let update = try await reader.next()
                    if update.isAnew { paths = [] }
                    paths.formUnion(update.inserted.map(\.report.item.path.text))
                    state = update.state
                }
                #expect(paths == ["/d/1", "/d/below", "/d/new"])
            }
            #expect(fixture.listings.contains("/d"))
            try await fixture.until { try await lastScan() != before }
            fixture.server.forgetRequests()
            // A reader that does not ask for it has nothing listed, and need not wait for it.
            let plain = try await fixture.host.read(query)
            defer { plain.end() }
            while try await plain.next().state != .idle {}
            #expect(!fixture.listings.contains("/d"))
        }
    }

    @Test("U1: a reader does not wait for a folder that is not on the server any more")
    func gone() async throws {
        try await AccountFixture.atWork(.plain) { fixture in
            for path in ["/d/1", "/e/1"] { fixture.put(path, "x") }
        } body: { fixture in
            let refreshes = fixture.host.list.refreshes
            for (path, byScan) in [("/d", false), ("/e", true)] {
                let folder = ItemPath(unchecked: path)
                fixture.server.tree.remove(path)
                fixture.clock.advance(.seconds(11))
                #expect(refreshes.ask(for: folder, at: fixture.clock.host.awake()))
                if byScan {
                    try await fixture.host.database.write { tx in
                        try tx.scan.requestListing(of: folder)
                        tx.noteFoldersLeft()
                    }
                } else {
                    _ = try await fixture.host.list.listAgain(folder)
                }
                try await fixture.until { refreshes.awaited.isEmpty }
            }
        }
    }
}
