import Database
import Glibc
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of copies that are claimed or in use, with removals that wait and removals that do not wait.
struct ClaimedRemovalTests {
    private let plugin = DownloadTrigger("org.example.tidy")

    private func remove(_ fixture: EngineFixture, ifUnused: Bool) -> ItemAction {
        .removeLocalCopy(restoringFormerTrigger: false, unusedSince: ifUnused ? fixture.clock.now : nil)
    }

    private func withCopy(_ body: (EngineFixture, Item) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: plugin)
            #expect(try await fixture.drain().isDone)
            fixture.clock.advance(.seconds(1))
            try await body(fixture, file)
        }
    }

    private func claim(
        _ fixture: EngineFixture, _ item: Item, _ kind: Claim.Kind, _ validity: ClaimValidity
    ) async throws {
        let claim = Claim(id: ClaimID("job"), item: item.localID, kind: kind, validity: validity)
        try await fixture.database.write { try $0.claims.add(claim) }
    }

    @Test("P43: a copy that is claimed for writing is not replaced on a plugin's word, and is when the claim is over")
    func notReplaced() async throws {
        try await withCopy { fixture, file in
            try await claim(fixture, file, .write, .until(fixture.clock.now + .seconds(40)))
            try await fixture.change(file, "newer", version: "v2", isListed: true)
            try await fixture.ask(.download, file, for: plugin)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
            #expect(try await fixture.now(file).remoteVersion == .newer)
            fixture.clock.advance(.seconds(60))
            try await fixture.ask(.download, file, for: plugin)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
        }
    }

    @Test(
        "P25: a claimed copy stays, whatever the claim, and goes when the claim is over", arguments: Claim.Kind.allCases
    )
    func waits(kind: Claim.Kind) async throws {
        try await withCopy { fixture, file in
            try await claim(fixture, file, kind, .until(fixture.clock.now + .seconds(40)))
            try await fixture.ask(remove(fixture, ifUnused: false), file, for: plugin)
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.why) == ["/a is claimed (\(kind.name), job) and was not removed"])
            #expect(try fixture.text("/a") == "content")
            #expect(try await fixture.issues().isEmpty)
            fixture.clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
        }
    }

    @Test("A person's removal of a claimed or used copy ends at once, and the copy stays")
    func person() async throws {
        try await withCopy { fixture, file in
            try await claim(fixture, file, .read, .explicit)
            try await fixture.ask(remove(fixture, ifUnused: false), file)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
            #expect(try await fixture.records().isEmpty)
        }
    }

    /// A reason why a copy is not removed when only unused copies are removed.
    enum Use: String, CaseIterable, Sendable {
        case claimed, open, usedSince, hasRecord, usedMeanwhile, claimedMeanwhile
    }

    @Test(
        "P36: a copy that somebody uses is passed over where only unused ones go: no record, no issue",
        arguments: Use.allCases)
    func passedOver(use: Use) async throws {
        try await withCopy { fixture, file in
            let remove = remove(fixture, ifUnused: true)
            var reader: Int32?
            fixture.clock.advance(.seconds(1))
            let touch = {
                try await fixture.database.write { [now = fixture.clock.now] tx in
                    guard var item = try tx.items.item(localID: file.localID) else { return }
                    item.lastUsed = now
                    try tx.items.updateLocal(item)
                }
            }
            switch use {
            case .claimed: try await claim(fixture, file, .read, .explicit)
            case .open: reader = open(fixture.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            case .usedSince: try await touch()
            case .hasRecord:
                try await fixture.change(file, "newer", version: "v2")
                fixture.engine.setOnline(false)
                try await fixture.ask(.download, file, for: .user)
            case .usedMeanwhile, .claimedMeanwhile: break
            }
            let outcome = try await fixture.ask(remove, file, for: plugin)
            switch use {
            case .usedMeanwhile: try await touch()
            case .claimedMeanwhile: try await claim(fixture, file, .read, .explicit)
            default: break
            }
            if [.claimed, .usedSince, .hasRecord].contains(use) {
                guard case .done = outcome else { throw SetupError("\(outcome)") }
            }
            _ = try await fixture.drain()
            reader.map { _ = close($0) }
            #expect(try await fixture.records().filter { $0.action.kind.isRemoval }.isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try fixture.text("/a") == "content")
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("P36: a copy that nobody uses goes, and one used before the run too")
    func goes() async throws {
        try await withCopy { fixture, file in
            try await fixture.ask(remove(fixture, ifUnused: true), file, for: plugin)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
        }
    }

    @Test("What is to go in any case is waited for, though another wanted it gone only unused")
    func stricter() async throws {
        try await withCopy { fixture, file in
            guard case .queued(let record) = try await fixture.ask(remove(fixture, ifUnused: true), file, for: plugin),
                case .joined(record) = try await fixture.ask(
                    remove(fixture, ifUnused: false), file, for: .availableOffline, key: "k")
            else { throw SetupError("not joined") }
            let reader = open(fixture.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            #expect(try await fixture.drain().left.map(\.record) == [record])
            close(reader)
            fixture.clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
        }
    }

    // spec: P39
    @Test(
        "P39: 1,000 removals that were asked for at once are one transaction, behind downloads that wait for the server too"
    )
    func batch() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 6)) { fixture in
            let files = try await fixture.addFiles(1_000) { ("/f/\($0)", "content \($0)") }
            let others = try await fixture.addFiles(500) { ("/g/\($0)", "content") }
            let plugin = plugin
            try await fixture.database.write { [engine = fixture.engine] tx in
                let requests = files.map { ActionRequest(.download, item: $0.localID, reason: plugin) }
                _ = try engine.enqueue(requests, in: tx)
            }
            #expect(try await fixture.drain().isDone)
            fixture.engine.setOnline(false)
            fixture.clock.advance(.seconds(1))
            let remove = remove(fixture, ifUnused: true)
            try await fixture.database.write { [engine = fixture.engine] tx in
                _ = try engine.enqueue(others.map { .init(.download, item: $0.localID, reason: .user) }, in: tx)
                let requests = files.map { ActionRequest(remove, item: $0.localID, reason: plugin) }
                _ = try engine.enqueue(requests, in: tx)
            }
            let counts = Mutex<[Int]>([])
            fixture.database.setCommitObserver { summary in
                if summary.changesItems { counts.withLock { $0.append(summary.updated.count) } }
            }
            _ = try await fixture.drain()
            #expect(counts.withLock { $0 } == [1_000])
            #expect(!Files.exists(fixture.tree.localPath(of: ItemPath(unchecked: "/f"))))
        }
    }
}
