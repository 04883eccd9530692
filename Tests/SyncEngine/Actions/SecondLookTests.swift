import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of removals that were requested but are no longer wanted when their turn comes.
struct SecondLookTests {
    private let plugin = DownloadTrigger("org.example.tidy")
    private let unpin = ItemAction.removeLocalCopy(restoringFormerTrigger: true)

    private func withCopy(_ path: String = "/a/x", _ body: (EngineFixture, Item) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile(path)
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            fixture.clock.advance(.seconds(1))
            try await body(fixture, file)
        }
    }

    private func pin(_ fixture: EngineFixture, _ path: String, localID: LocalID? = nil) async throws {
        var policy = ItemPolicy(
            kind: .availableOffline, condition: Condition.at(orBelow: ItemPath(unchecked: path)).text,
            path: ItemPath(unchecked: path))
        policy.localID = localID
        try await fixture.database.write { [policy, now = fixture.clock.now] tx in
            _ = try tx.policies.add(policy, by: .person("ada", at: now))
        }
        fixture.engine.policiesChanged()
    }

    @Test(
        "P58, P25: pinned again while its removal waits for a program to close it, a copy stays, and nothing waits on")
    func pinnedAgain() async throws {
        try await withCopy { fixture, file in
            let reader = open(fixture.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            try await fixture.ask(unpin, file, for: .availableOffline)
            #expect(try await fixture.drain().leftCount == 1)
            try await pin(fixture, "/a")
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.records().isEmpty)
            close(reader)
            fixture.clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a/x") == "content")
            #expect(try await fixture.now(file).downloadTrigger == .availableOffline)
        }
    }

    @Test("P58: a policy that came between the asking and the act keeps the copy, whoever asked", arguments: 0..<4)
    func whoeverAsked(_ who: Int) async throws {
        try await withCopy { fixture, file in
            let remove = ItemAction.removeLocalCopy(
                restoringFormerTrigger: false, unusedSince: fixture.clock.now)
            let (action, reason): (ItemAction, DownloadTrigger) = [
                (unpin, .availableOffline), (remove, plugin),
                (.removeLocalCopy(restoringFormerTrigger: false), plugin),
                (.removeLocalCopy(restoringFormerTrigger: false), .user),
            ][who]
            guard case .queued = try await fixture.ask(action, file, for: reason) else {
                throw SetupError("not queued")
            }
            try await pin(fixture, "/a")
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a/x") == "content")
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("P58: what a policy keeps is not asked for: a person is told which one")
    func refused() async throws {
        try await withCopy { fixture, file in
            try await pin(fixture, "/a")
            let outcome = try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file)
            guard case .refused(let failure) = outcome else { throw SetupError("\(outcome)") }
            #expect(failure.kind == .badData && failure.message.contains("kept here by the policy /a ("))
            guard case .done = try await fixture.ask(unpin, file, for: plugin) else {
                throw SetupError("not passed over")
            }
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test(
        "P58, P22: a folder's policy keeps what the folder holds, also before the policy was written for its new path")
    func policyOfMovedFolder() async throws {
        try await EngineFixture.with { fixture in
            let folder = try await fixture.addFolder("/new")
            let files = try await fixture.addFiles(2) { ("/\($0 == 0 ? "new" : "old")/x", "content") }
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            #expect(try await fixture.drain().isDone)
            for file in files { try await fixture.ask(unpin, file, for: .availableOffline) }
            try await pin(fixture, "/old", localID: folder.localID)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/new/x") == "content")
            // The policy keeps its old path until it is written for the new one.
            #expect(try fixture.text("/old/x") == "content")
        }
    }

    @Test("P58, P22: a copy that the tree has still to move is not taken for gone, and goes when it has moved")
    func moving() async throws {
        try await withCopy { fixture, file in
            try await fixture.ask(unpin, file, for: .availableOffline)
            let old = fixture.tree.localPath(of: file.path)
            try await fixture.database.write { tx in
                let row = try #require(try tx.items.scanRow(at: file.path))
                let entry = ListedItem(path: ItemPath(unchecked: "/b"), kind: .file, etag: file.etag)
                let id = try #require(file.fileID)
                try tx.scan.move(row, to: entry, fileID: id, racy: .no, placeTakenBy: nil)
            }
            #expect(try await fixture.drainBeforeMoves().left.first?.why.contains("is being moved") == true)
            #expect(Files.exists(old))
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            #expect(rename(old, fixture.tree.localPath(of: ItemPath(unchecked: "/b"))) == 0)
            try await fixture.database.write { tx in
                for move in try tx.moves.all() { try tx.moves.remove(move.id) }
            }
            fixture.clock.advance(.seconds(600))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/b") == nil)
            #expect(try await fixture.now(file).cloudStatus == .cloudOnly)
        }
    }

    @Test("P58, P56: what another item displaced is not purged before it is decided that it is gone")
    func displaced() async throws {
        try await withCopy { fixture, file in
            try await fixture.database.write { [now = fixture.clock.now] tx in
                try tx.scan.displace(try #require(try tx.items.scanRow(at: file.path)), at: now)
            }
            let ask = { try await fixture.ask(.purge, try await fixture.now(file), for: plugin) }
            guard case .done = try await ask() else { throw SetupError("not passed over") }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a/x") == "content")
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            _ = try await fixture.database.write { [now = fixture.clock.now] in try $0.scan.removeMissing(at: now) }
            _ = try await ask()
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a/x") == nil)
        }
    }

    @Test("P58, P46: what came back and is gone anew since its purge was asked for has an age of its own")
    func goneAnew() async throws {
        try await withCopy { fixture, file in
            let remove = { (time: Timestamp) in
                try await fixture.database.write { tx in
                    _ = try tx.scan.noteMissing(file.databaseID)
                    try tx.scan.removeMissing(at: time)
                }
            }
            try await remove(fixture.clock.now)
            try await fixture.ask(.purge, file, for: plugin)
            try await fixture.database.write { tx in
                var item = try #require(try tx.items.item(localID: file.localID))
                item.removedAt = nil
                try tx.items.update(item)
            }
            try await remove(fixture.clock.now + .seconds(1))
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            #expect(try fixture.text("/a/x") == "content")
        }
    }
}
