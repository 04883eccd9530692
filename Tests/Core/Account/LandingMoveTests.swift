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

/// An item moves on the server while its download is being put in place here.
struct LandingMoveTests {
    /// What is done in place of what was interrupted.
    enum Then: CaseIterable {
        /// The host dies: nothing more.
        case killed
        /// The item says that it is here, then the tree's moves are made: the order of a host at work.
        case completed
        /// The other way round.
        case completedLast
    }

    /// A host with a file `/a/1` that is on its way into the tree, journalled as complete.
    private func withLanding(
        isPut: Bool, isolation: isolated (any Actor)? = #isolation,
        _ body: (Bench, LandingOutcome) async throws -> Void
    ) async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "content")
            bench.put("/b/2", "other")
            try await bench.runWell()
            try await bench.download("/a/1")
            let (engine, tree) = (bench.host.engine, bench.host.vault.tree)
            let (job, file) = try await bench.host.database.read { tx in
                let item = try #require(try tx.items.item(at: ItemPath(unchecked: "/a/1")))
                let job = Job(try #require(try tx.journal.records(of: item.localID).first), item: item)
                let incoming = try tree.incomingFile(job.incomingName)
                try Array("content".utf8).withUnsafeBytes { try incoming.append($0) }
                return (job, try incoming.finish(modified: job.lastModified))
            }
            let fetched = Fetched(job: job, file: file, version: job.version)
            var outcome = LandingOutcome()
            if isPut {
                outcome = try DownloadAction(engine).land([fetched], completing: [], started: [])
                #expect(outcome.placed.count == 1)
                #expect(try bench.text("/a/1") == "content")
            } else {
                try await bench.host.database.write { try $0.journal.setLanding(fetched.landing, of: job.id) }
            }
            try await body(bench, outcome)
        }
    }

    /// As a scan commits it, without what follows its commit.
    private func commitMove(_ bench: Bench, from: String, to: String) async throws {
        bench.server.tree.move(from, to: to)
        try await bench.host.database.write { tx in
            let row = try #require(try tx.items.scanRow(at: ItemPath(unchecked: from)))
            let fileID = try #require(row.fileID)
            let entry = ListedItem(
                path: ItemPath(unchecked: to), kind: row.kind, fileID: fileID, etag: row.etag, size: row.size,
                lastModified: row.lastModified, mimeType: row.mimeType)
            try tx.scan.move(row, to: entry, fileID: fileID, racy: .no, placeIsTaken: false)
        }
    }

    private func expectHere(_ bench: Bench, _ path: String) async throws {
        #expect(try bench.text(path) == "content")
        #expect(try await bench.item(path)?.cloudStatus == .localCopy)
        let here = try await bench.host.database.read { tx in
            var here: [String] = []
            try tx.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                guard [.locallyModified, .localOnly].contains(item.cloudStatus) else { return true }
                here.append("\(item.path) \(item.cloudStatus)")
                return true
            }
            return here
        }
        #expect(here == [])
        #expect(try await bench.host.database.read { try $0.moves.all() } == [])
        #expect(try await bench.records() == [])
    }

    @Test(
        "I5, S25: an item that moves after its file was put in place and before it says so takes the file along, at once or after a kill",
        arguments: Then.allCases, [false, true])
    func put(_ then: Then, movesFolder: Bool) async throws {
        try await withLanding(isPut: true) { bench, outcome in
            let path = movesFolder ? "/c/1" : "/b/1"
            try await commitMove(bench, from: movesFolder ? "/a" : "/a/1", to: movesFolder ? "/c" : path)
            let (list, engine) = (bench.host.list, bench.host.engine)
            switch then {
            case .killed: break
            case .completed:
                _ = try DownloadAction(engine).land([], completing: outcome.placed, started: [])
                try await list.carryOutMoves()
            case .completedLast:
                try await list.carryOutMoves()
                _ = try DownloadAction(engine).land([], completing: outcome.placed, started: [])
            }
            try await bench.restart()
            try await bench.runWell()
            #expect(bench.downloads == [])
            try await expectHere(bench, path)
            #expect(try bench.tree().filter { !$0.hasSuffix("/") } == [path])
        }
    }

    @Test("I5, S25: one whose file was still to be put in place gets it at its new path; a person's file stays")
    func journalled() async throws {
        for isTaken in [false, true] {
            try await withLanding(isPut: false) { bench, _ in
                if isTaken { try Files.write("mine", to: bench.local("/a/1")) }
                try await commitMove(bench, from: "/a/1", to: "/b/1")
                try await bench.restart()
                try await bench.runWell()
                #expect(bench.downloads == [])
                #expect(try bench.text("/b/1") == "content")
                #expect(try await bench.item("/b/1")?.cloudStatus == .localCopy)
                guard isTaken else { return try await expectHere(bench, "/b/1") }
                #expect(try bench.text("/a/1") == "mine")
                #expect(try await bench.item("/a/1")?.cloudStatus == .localOnly)
            }
        }
    }
}
