import Database
import DemoServer
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core
@testable import SyncEngine

/// Tests of an item that moves on the server while its download is being put in place.
struct LandingMoveTests {
    /// The steps that follow in place of the interrupted ones.
    enum Then: CaseIterable {
        /// No step: the host dies.
        case killed
        /// The item is recorded as here, and then the moves in the tree are made. This is the order of a running host.
        case completed
        /// The moves in the tree are made, and then the item is recorded as here.
        case completedLast
    }

    /// Runs `body` with a host whose file `/a/1` is on its way into the tree, and is journalled as complete.
    private func withLanding(
        isPut: Bool, isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture, LandingOutcome) async throws -> Void
    ) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "content")
            fixture.put("/b/2", "other")
            try await fixture.runWell()
            try await fixture.download("/a/1")
            let (engine, tree) = (fixture.host.engine, fixture.host.vault.tree)
            let (job, file) = try await fixture.host.database.read { tx in
                let item = try #require(try tx.items.item(at: ItemPath(unchecked: "/a/1")))
                let job = Job(try #require(try tx.journal.records(of: item.localID).first), item: item)
                let incoming = try tree.incomingFile(job.incomingName)
                try Array("content".utf8).withUnsafeBytes { try incoming.append($0) }
                return (job, try incoming.finish(modified: job.lastModified))
            }
            let fetched = Fetched(job: job, file: file, version: job.version)
            var outcome = LandingOutcome()
            if isPut {
                var arrivals = Arrivals()
                arrivals.append(fetched, now: .now())
                outcome = try DownloadAction(engine.context).land(arrivals, completing: InPlace(), started: [])
                #expect(outcome.placed.count == 1)
                #expect(try fixture.text("/a/1") == "content")
            } else {
                try await fixture.host.database.write { try $0.journal.setLanding(fetched.landing, of: job.id) }
            }
            try await body(fixture, outcome)
        }
    }

    /// Commits a move as a scan does, without the steps that follow the commit.
    private func commitMove(_ fixture: AccountFixture, from: String, to: String) async throws {
        fixture.server.tree.move(from, to: to)
        try await fixture.host.database.write { tx in
            let row = try #require(try tx.items.scanRow(at: ItemPath(unchecked: from)))
            let fileID = try #require(row.fileID)
            let entry = ListedItem(
                path: ItemPath(unchecked: to), kind: row.kind, fileID: fileID, etag: row.etag, size: row.size,
                lastModified: row.lastModified, mimeType: row.mimeType)
            try tx.scan.move(row, to: entry, fileID: fileID, racy: .no, placeTakenBy: nil)
        }
    }

    private func expectHere(_ fixture: AccountFixture, _ path: String) async throws {
        #expect(try fixture.text(path) == "content")
        #expect(try await fixture.item(path)?.cloudStatus == .localCopy)
        let here = try await fixture.host.database.read { tx in
            var here: [String] = []
            try tx.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                guard [.locallyModified, .localOnly].contains(item.cloudStatus) else { return true }
                here.append("\(item.path) \(item.cloudStatus)")
                return true
            }
            return here
        }
        #expect(here == [])
        #expect(try await fixture.host.database.read { try $0.moves.all() } == [])
        #expect(try await fixture.records() == [])
    }

    @Test(
        "I5, S25: an item that moves after its file was put in place and before it says so takes the file along, at once or after a kill",
        arguments: Then.allCases, [false, true])
    func put(_ then: Then, movesFolder: Bool) async throws {
        try await withLanding(isPut: true) { fixture, outcome in
            let path = movesFolder ? "/c/1" : "/b/1"
            try await commitMove(fixture, from: movesFolder ? "/a" : "/a/1", to: movesFolder ? "/c" : path)
            let (list, engine) = (fixture.host.list, fixture.host.engine)
            switch then {
            case .killed: break
            case .completed:
                _ = try DownloadAction(engine.context).land(
                    Arrivals(), completing: InPlace(files: outcome.placed), started: [])
                try await list.carryOutMoves()
            case .completedLast:
                try await list.carryOutMoves()
                _ = try DownloadAction(engine.context).land(
                    Arrivals(), completing: InPlace(files: outcome.placed), started: [])
            }
            try await fixture.restart()
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            try await expectHere(fixture, path)
            #expect(try fixture.tree().filter { !$0.hasSuffix("/") } == [path])
        }
    }

    @Test("I5, S25: one whose file was still to be put in place gets it at its new path; a person's file stays")
    func journalled() async throws {
        for isTaken in [false, true] {
            try await withLanding(isPut: false) { fixture, _ in
                if isTaken { try Files.write("mine", to: fixture.local("/a/1")) }
                try await commitMove(fixture, from: "/a/1", to: "/b/1")
                try await fixture.restart()
                try await fixture.runWell()
                #expect(fixture.downloads == [])
                #expect(try fixture.text("/b/1") == "content")
                #expect(try await fixture.item("/b/1")?.cloudStatus == .localCopy)
                guard isTaken else { return try await expectHere(fixture, "/b/1") }
                #expect(try fixture.text("/a/1") == "mine")
                #expect(try await fixture.item("/a/1")?.cloudStatus == .localOnly)
            }
        }
    }
}
