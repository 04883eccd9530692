import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct RemovalTests {
    private let remove = SyncRecord.Action.removeLocalCopy(restoringFormerTrigger: true)

    @Test("P26: copies are removed without a connection")
    func offline() async throws {
        try await Rig.with { rig in
            var files: [Item] = []
            for number in 0..<20 {
                let file = try await rig.addFile("/a/f\(number)")
                try await rig.ask(.download, file, for: .availableOffline)
                files.append(file)
            }
            #expect(try await rig.drain().isDone)
            rig.engine.setOnline(false)
            for file in files { try await rig.ask(remove, file, for: .availableOffline) }
            #expect(try await rig.drain().isDone)
            for file in files {
                let item = try await rig.now(file)
                #expect(item.cloudStatus == .cloudOnly && item.copy == nil && item.downloadTrigger == nil)
                #expect(try rig.text(file.path.text) == nil)
            }
            // The folder was never kept for its own sake.
            #expect(!Files.exists(rig.tree.localPath(of: ItemPath(unchecked: "/a"))))
            #expect(rig.source.requests.count == 20)
        }
    }

    @Test("P29: of 50 queued downloads those not started never send a GET after the wish is taken back")
    func cancelBeforeStart() async throws {
        try await Rig.with(limits: Limits(downloads: 2)) { rig in
            let gate = Gate()
            var files: [Item] = []
            for number in 0..<50 {
                let file = try await rig.addFile("/f\(number)")
                rig.source.then(file.path, .hold(gate))
                files.append(file)
            }
            for file in files { try await rig.ask(.download, file, for: .availableOffline) }
            async let outcome = rig.drain()
            for _ in 0..<2 { await gate.untilSomebodyCame() }
            let started = Set(rig.source.requests.map(\.path))
            try await rig.database.write { [engine = rig.engine, files, remove] tx in
                let requests = files.map { ActionRequest(remove, item: $0.localID, reason: .availableOffline) }
                _ = try engine.enqueue(requests, in: tx)
            }
            gate.open()
            #expect(try await outcome.isDone)
            #expect(Set(rig.source.requests.map(\.path)) == started && started.count == 2)
            for file in files {
                let item = try await rig.now(file)
                #expect(item.cloudStatus == .cloudOnly && item.syncActivity == [])
            }
            #expect(try rig.incoming().isEmpty)
        }
    }

    @Test("P29: a record that a transaction has its hands on is not started, whether or not that is committed")
    func suspended() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file)
            let job = Job(try #require(try await rig.records().first), item: file)
            rig.engine.controls.suspend(job.id, cancels: true)
            #expect(DownloadAction(rig.engine).startFetch(job) == nil)
            // The transaction was rolled back: the journal says that it is still to be done.
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "content")
        }
    }

    @Test("P29: a download that a person joined goes on as the person's")
    func joinedStays() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file, for: .availableOffline)
            try await rig.ask(.download, file)
            try await rig.ask(remove, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            let item = try await rig.now(file)
            #expect(item.cloudStatus == .localCopy && item.downloadTrigger == .user && item.formerTrigger == nil)
        }
    }

    @Test("P44: a changed copy is never removed, whether or not the change was noticed")
    func modified() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file, for: .availableOffline)
            _ = try await rig.drain()
            try rig.write("mine", to: "/a")
            guard case .queued = try await rig.ask(remove, file, for: .availableOffline) else {
                throw SetupError("not queued")
            }
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "mine")
            #expect(try await rig.now(file).cloudStatus == .locallyModified)
            guard case .refused = try await rig.ask(remove, file, for: .user) else { throw SetupError("not refused") }
            #expect(try rig.text("/a") == "mine")
        }
    }

    @Test("P25: a copy that a program has open stays for now, and goes later")
    func inUse() async throws {
        try await Rig.with { rig in
            // As available-offline asks: a download only as long as it is covered, and the removal when it is not any more.
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file, for: .availableOffline, key: "download:a", whileCovered: true)
            _ = try await rig.drain()
            rig.coverage.set { _, _ in false }
            let reader = open(rig.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            try await rig.ask(remove, file, for: .availableOffline, key: "remove:a")
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path) == [file.path])
            #expect(try rig.text("/a") == "content")
            closeForAll(reader)
            rig.clock.advance(.seconds(60))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == nil)
        }
    }

    @Test("P27: asked for again while its removal is queued, the copy stays")
    func changedMind() async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a")
            try await rig.ask(.download, file, for: .availableOffline)
            _ = try await rig.drain()
            try await rig.ask(remove, file, for: .availableOffline)
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try await rig.now(file).cloudStatus == .localCopy)
            #expect(try rig.text("/a") == "content" && rig.source.requests.count == 1)
        }
    }
}
