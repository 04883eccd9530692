import Database
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of downloads that are wanted only as long as policies cover their items.
struct CoverageTests {
    @Test("P29: when policies change, queued downloads that none covers any more never send a GET")
    func policiesChanged() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 2)) { fixture in
            let gate = Gate()
            let files = try await fixture.addFiles(50) { ("/f\($0)", "content") }
            for file in files {
                fixture.source.then(file.path, .hold(gate))
                try await fixture.ask(.download, file, for: .availableOffline, whileCovered: true)
            }
            async let outcome = fixture.drain()
            await gate.untilReached(times: 2)
            let started = Set(fixture.source.requests.map(\.path))
            // One of several policies is removed. The file that another policy covers is still downloaded.
            let kept = try #require(files.last).path
            fixture.coverage.set { item, trigger in item.path == kept && trigger == .availableOffline }
            fixture.engine.policiesChanged()
            gate.open()
            #expect(try await outcome.isDone)
            #expect(started.count == 2 && !started.contains(kept))
            #expect(Set(fixture.source.requests.map(\.path)).subtracting(started) == [kept])
            #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
            for file in files {
                let item = try await fixture.now(file)
                #expect(item.syncActivity == [])
                // Downloads that are under way may end either way.
                if !started.contains(file.path) {
                    #expect((item.cloudStatus == .localCopy) == (file.path == kept))
                }
            }
        }
    }

    @Test("P29: what was queued when the host ended is dropped at the next start if no policy covers it")
    func changedBetweenStarts() async throws {
        try await EngineFixture.with { first in
            let (gone, kept) = (try await first.addFile("/gone"), try await first.addFile("/kept"))
            for file in [gone, kept] {
                try await first.ask(.download, file, for: .availableOffline, whileCovered: true)
            }
            let fixture = try EngineFixture(reopening: first)
            fixture.coverage.set { item, _ in item.path == kept.path }
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requests.map(\.path) == [kept.path])
            #expect(try await fixture.now(gone).syncActivity == [])
            #expect(try await fixture.records().isEmpty)
            #expect(fixture.coverage.dropped.map(\.path) == [gone.path])
            #expect(fixture.coverage.dropped.first?.action == .download && fixture.coverage.dropped.first?.why != "")
        }
    }

    @Test("P60: a download waits as long as it is not known what its plugin covers, and is not dropped for it")
    func unknown() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline, whileCovered: true)
            fixture.coverage.set { _, _ in nil }
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path) == [file.path] && fixture.source.requests.isEmpty)
            #expect(outcome.left.first?.why.contains("has said which items it covers") == true)
            fixture.coverage.set { _, _ in true }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content" && fixture.coverage.dropped == [])
        }
    }

    @Test(
        "P60: what a plugin asked for is dropped with its reason where somebody uses the item, and nothing is told of a person's"
    )
    func dropped() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            let claim = Claim(id: ClaimID("c"), item: file.localID, kind: .read, validity: .explicit)
            try await fixture.database.write { try $0.claims.add(claim) }
            try await fixture.ask(
                .removeLocalCopy(restoringFormerTrigger: false, unusedSince: fixture.clock.now), file,
                for: .availableOffline)
            #expect(fixture.coverage.dropped.map(\.action.kind.rawValue) == ["removeLocalCopy"])
            #expect(fixture.coverage.dropped.first?.why == "the copy is claimed (read, c) and stays")
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false, unusedSince: fixture.clock.now), file)
            #expect(fixture.coverage.dropped.count == 1)
        }
    }

    @Test("P25: of a download that comes after its policy went, while it was being put in place, the policies are told")
    func landing() async throws {
        for isKept in [true, false] {
            try await withTemporaryFolder { folder in
                let isGone = Atomic(false)
                let coverage = Mutex<EngineFixture.Coverage?>(nil)
                // The second sync is that of the file's new name: the file is in its place, and its row does not say so.
                let fixture = try EngineFixture(
                    folder: folder,
                    sync: {
                        guard !isKept, Files.exists("\(folder)/vault/files/a") else { return 0 }
                        isGone.store(true, ordering: .relaxed)
                        coverage.withLock(\.self)?.noteChange()
                        return 0
                    })
                coverage.withLock { $0 = fixture.coverage }
                fixture.coverage.set { _, _ in !isGone.load(ordering: .relaxed) }
                let file = try await fixture.addFile("/a")
                try await fixture.ask(.download, file, for: .availableOffline, whileCovered: true)
                #expect(try await fixture.drain().isDone)
                #expect(try await fixture.now(file).cloudStatus == .localCopy)
                #expect(fixture.coverage.uncovered == (isKept ? 0 : 1))
                try fixture.vault.close()
            }
        }
    }

    @Test("P29: what was not asked for with that condition comes, whatever is covered")
    func unconditional() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            fixture.coverage.set { _, _ in false }
            try await fixture.ask(.download, file, for: .availableOffline)
            fixture.engine.policiesChanged()
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
        }
    }

    @Test(
        "P29: a download that a person asked for too goes on as the person's when no policy covers it any more",
        arguments: [false, true])
    func joined(personFirst: Bool) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            if personFirst { try await fixture.ask(.download, file) }
            try await fixture.ask(.download, file, for: .availableOffline, whileCovered: true)
            if !personFirst { try await fixture.ask(.download, file) }
            fixture.coverage.set { _, _ in false }
            fixture.engine.policiesChanged()
            #expect(try await fixture.drain().isDone)
            let item = try await fixture.now(file)
            #expect(item.cloudStatus == .localCopy && item.downloadTrigger == .user && item.formerTrigger == nil)
            #expect(try await fixture.records().isEmpty)
        }
    }
}
