import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct RemovalTests {
    private let remove = ItemAction.removeLocalCopy(restoringFormerTrigger: true)

    @Test("P26: copies are removed without a connection")
    func offline() async throws {
        try await EngineFixture.with { fixture in
            var files: [Item] = []
            for number in 0..<20 {
                let file = try await fixture.addFile("/a/f\(number)")
                try await fixture.ask(.download, file, for: .availableOffline)
                files.append(file)
            }
            #expect(try await fixture.drain().isDone)
            fixture.engine.setOnline(false)
            for file in files { try await fixture.ask(remove, file, for: .availableOffline) }
            #expect(try await fixture.drain().isDone)
            for file in files {
                let item = try await fixture.now(file)
                #expect(item.cloudStatus == .cloudOnly && item.copy == nil && item.downloadTrigger == nil)
                #expect(try fixture.text(file.path.text) == nil)
            }
            // The folder itself was never kept, so it is removed with its last file.
            #expect(!Files.exists(fixture.tree.localPath(of: ItemPath(unchecked: "/a"))))
            #expect(fixture.source.requests.count == 20)
        }
    }

    @Test("P29: of 50 queued downloads those not started never send a GET after the wish is taken back")
    func cancelBeforeStart() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 2)) { fixture in
            // The two downloads keep their places until the wish is taken back for all.
            let gate = Gate(ignoresCancellation: true)
            var files: [Item] = []
            for number in 0..<50 {
                let file = try await fixture.addFile("/f\(number)")
                fixture.source.then(file.path, .hold(gate))
                files.append(file)
            }
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            async let outcome = fixture.drain()
            await gate.untilReached(times: 2)
            let started = Set(fixture.source.requests.map(\.path))
            try await fixture.database.write { [engine = fixture.engine, files, remove] tx in
                let requests = files.map { ActionRequest(remove, item: $0.localID, reason: .availableOffline) }
                _ = try engine.enqueue(requests, in: tx)
            }
            gate.open()
            #expect(try await outcome.isDone)
            #expect(Set(fixture.source.requests.map(\.path)) == started && started.count == 2)
            for file in files {
                let item = try await fixture.now(file)
                #expect(item.cloudStatus == .cloudOnly && item.syncActivity == [])
            }
            #expect(try fixture.incoming().isEmpty)
        }
    }

    @Test("P29: a record that a transaction has its hands on is not started, whether or not that is committed")
    func suspended() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file)
            let job = Job(try #require(try await fixture.records().first), item: file)
            fixture.engine.controls.suspend(job.id, cancels: true)
            #expect(!DownloadAction(fixture.engine.context).startFetch(job, by: DownloadWorker()))
            // The transaction was rolled back. The journal still holds the download as unfinished.
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
        }
    }

    @Test("P29: a download that a person joined goes on as the person's")
    func joinedStays() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline)
            try await fixture.ask(.download, file)
            try await fixture.ask(remove, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            let item = try await fixture.now(file)
            #expect(item.cloudStatus == .localCopy && item.downloadTrigger == .user && item.formerTrigger == nil)
        }
    }

    @Test("P44: a changed copy is never removed, whether or not the change was noticed")
    func modified() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file, for: .availableOffline)
            _ = try await fixture.drain()
            try fixture.write("mine", to: "/a")
            guard case .queued = try await fixture.ask(remove, file, for: .availableOffline) else {
                throw SetupError("not queued")
            }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "mine")
            #expect(try await fixture.now(file).cloudStatus == .locallyModified)
            guard case .refused = try await fixture.ask(remove, file, for: .user) else {
                throw SetupError("not refused")
            }
            #expect(try fixture.text("/a") == "mine")
        }
    }

    @Test("P25: a copy that a program has open stays for now, and goes later")
    func inUse() async throws {
        try await EngineFixture.with { fixture in
            // The requests are those of available-offline: a download that holds only while the item is covered, and a
            // removal when the item is no longer covered.
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline, key: "download:a", whileCovered: true)
            _ = try await fixture.drain()
            fixture.coverage.set { _, _ in false }
            let reader = open(fixture.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            try await fixture.ask(remove, file, for: .availableOffline, key: "remove:a")
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path) == [file.path])
            #expect(try fixture.text("/a") == "content")
            close(reader)
            fixture.clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
        }
    }

    @Test("P27: asked for again while its removal is queued, the copy stays")
    func changedMind() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline)
            _ = try await fixture.drain()
            try await fixture.ask(remove, file, for: .availableOffline)
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            #expect(try fixture.text("/a") == "content" && fixture.source.requests.count == 1)
        }
    }

    @Test("A copy that stays for a change which is queued names that change, and no program")
    func queuedChange() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            fixture.engine.setOnline(false)
            try await fixture.change(.move(file.path, to: try ItemPath("/b")))
            try await fixture.mover.carryOut()
            let moved = try await fixture.now(file)
            let record = try #require(try await fixture.records().first)
            let reason = try await fixture.database.write { [engine = fixture.engine] in
                try engine.reasonToStay(moved, in: $0)
            }
            #expect(reason == "waits for the move of /a (record \(record.id))")
        }
    }
}
