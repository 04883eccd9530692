import Database
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Downloads that are wanted only as long as policies cover their items.
struct CoverageTests {
    @Test("P29: when policies change, queued downloads that none covers any more never send a GET")
    func policiesChanged() async throws {
        try await Rig.with(limits: Limits(downloads: 2)) { rig in
            let gate = Gate()
            let files = try await rig.addFiles(50) { ("/f\($0)", "content") }
            for file in files {
                rig.source.then(file.path, .hold(gate))
                try await rig.ask(.download, file, for: .availableOffline, whileCovered: true)
            }
            async let outcome = rig.drain()
            for _ in 0..<2 { await gate.untilSomebodyCame() }
            let started = Set(rig.source.requests.map(\.path))
            // One policy of several goes: what another covers still comes.
            let kept = try #require(files.last).path
            rig.coverage.set { item, trigger in item.path == kept && trigger == .availableOffline }
            rig.engine.policiesChanged()
            gate.open()
            #expect(try await outcome.isDone)
            #expect(started.count == 2 && !started.contains(kept))
            #expect(Set(rig.source.requests.map(\.path)).subtracting(started) == [kept])
            #expect(try await rig.records().isEmpty && rig.incoming().isEmpty)
            for file in files {
                let item = try await rig.now(file)
                #expect(item.syncActivity == [])
                // Those under way may end as they like.
                if !started.contains(file.path) {
                    #expect((item.cloudStatus == .localCopy) == (file.path == kept))
                }
            }
        }
    }

    @Test("P29: what was queued when the host ended is dropped at the next start if no policy covers it")
    func changedBetweenStarts() async throws {
        try await Rig.with { first in
            let (gone, kept) = (try await first.addFile("/gone"), try await first.addFile("/kept"))
            for file in [gone, kept] {
                try await first.ask(.download, file, for: .availableOffline, whileCovered: true)
            }
            let rig = try Rig(reopening: first)
            rig.coverage.set { item, _ in item.path == kept.path }
            #expect(try await rig.drain().isDone)
            #expect(rig.source.requests.map(\.path) == [kept.path])
            #expect(try await rig.now(gone).syncActivity == [])
            #expect(try await rig.records().isEmpty)
            #expect(rig.coverage.dropped.map(\.path) == [gone.path])
            #expect(rig.coverage.dropped.first?.action == .download && rig.coverage.dropped.first?.why != "")
        }
    }

    @Test("P60: a download waits as long as it is not known what its plugin covers, and is not dropped for it")
    func unknown() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file, for: .availableOffline, whileCovered: true)
            rig.coverage.set { _, _ in nil }
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path) == [file.path] && rig.source.requests.isEmpty)
            #expect(outcome.left.first?.why.contains("has said what it covers") == true)
            rig.coverage.set { _, _ in true }
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "content" && rig.coverage.dropped == [])
        }
    }

    @Test(
        "P60: what a plugin asked for is dropped with its reason where somebody uses the item, and nothing is told of a person's"
    )
    func dropped() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            let claim = Claim(id: ClaimID("c"), item: file.localID, kind: .read, validity: .explicit)
            try await rig.database.write { try $0.claims.add(claim) }
            try await rig.ask(
                .removeLocalCopy(restoringFormerTrigger: false, unusedSince: rig.clock.now), file,
                for: .availableOffline)
            #expect(rig.coverage.dropped.map(\.action.kind.rawValue) == ["removeLocalCopy"])
            #expect(rig.coverage.dropped.first?.why == "it is claimed (read, c) and stays")
            try await rig.ask(.removeLocalCopy(restoringFormerTrigger: false, unusedSince: rig.clock.now), file)
            #expect(rig.coverage.dropped.count == 1)
        }
    }

    @Test("P29: what was not asked for with that condition comes, whatever is covered")
    func unconditional() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            rig.coverage.set { _, _ in false }
            try await rig.ask(.download, file, for: .availableOffline)
            rig.engine.policiesChanged()
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "content")
        }
    }

    @Test(
        "P29: a download that a person asked for too goes on as the person's when no policy covers it any more",
        arguments: [false, true])
    func joined(personFirst: Bool) async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            if personFirst { try await rig.ask(.download, file) }
            try await rig.ask(.download, file, for: .availableOffline, whileCovered: true)
            if !personFirst { try await rig.ask(.download, file) }
            rig.coverage.set { _, _ in false }
            rig.engine.policiesChanged()
            #expect(try await rig.drain().isDone)
            let item = try await rig.now(file)
            #expect(item.cloudStatus == .localCopy && item.downloadTrigger == .user && item.formerTrigger == nil)
            #expect(try await rig.records().isEmpty)
        }
    }
}
