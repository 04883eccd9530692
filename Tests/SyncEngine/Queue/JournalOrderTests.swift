import Database
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// More downloads than the engine holds in memory at once, and what was asked for after them.
struct JournalOrderTests {
    private static let many = SyncEngine.pageSize + 300
    private let remove = SyncRecord.Action.removeLocalCopy(restoringFormerTrigger: false)

    /// A copy here, then downloads of `many` other files in the journal.
    private func fill(_ rig: Rig, whileCovered: Bool = false) async throws -> (copy: Item, wanted: [Item]) {
        let copy = try await rig.addFile("/copy")
        try await rig.ask(.download, copy)
        #expect(try await rig.drain().isDone)
        let wanted = try await rig.addFiles(Self.many) { ("/wanted/f\($0)", "text \($0)") }
        _ = try await rig.database.write { [engine = rig.engine] tx in
            try engine.enqueue(
                wanted.map { ActionRequest(.download, item: $0.localID, reason: .user, whileCovered: whileCovered) },
                in: tx)
        }
        return (copy, wanted)
    }

    @Test("P26: a copy is removed without a connection, however many downloads were asked for before")
    func offline() async throws {
        try await Rig.with { rig in
            let (copy, wanted) = try await fill(rig)
            rig.engine.setOnline(false)
            try await rig.ask(remove, copy)
            let outcome = try await rig.drain()
            #expect(outcome.isOffline && outcome.leftCount == wanted.count)
            #expect(try await rig.now(copy).cloudStatus == .cloudOnly)
            #expect(try rig.text("/copy") == nil)

            rig.engine.setOnline(true)
            #expect(try await rig.drain().isDone)
            #expect(try wanted.allSatisfy { try rig.text($0.path.text) != nil })
            #expect(rig.source.requests.count == 1 + wanted.count)
        }
    }

    @Test(
        "a removal that is asked for while downloads are under way does not wait for those behind them",
        .timeLimit(.minutes(20)))
    func underWay() async throws {
        try await Rig.with(limits: Limits(downloads: 2)) { rig in
            let (copy, wanted) = try await fill(rig)
            let gate = Gate()
            for item in wanted { rig.source.then(item.path, .hold(gate)) }
            let run = Task { [rig] in try await rig.run() }
            await until { rig.source.requests.count == 1 + 2 }
            try await rig.ask(remove, copy)
            await until { (try? rig.text("/copy")) == .some(nil) }
            #expect(rig.source.requests.count == 1 + 2)
            gate.open()
            await until { (try? await rig.records().isEmpty) ?? false }
            run.cancel()
            _ = await run.result
            #expect(try await rig.now(copy).cloudStatus == .cloudOnly)
            #expect(try wanted.allSatisfy { try rig.text($0.path.text) != nil })
        }
    }

    @Test("a removal does not overtake what was asked for the same file before")
    func sameFile() async throws {
        try await Rig.with { rig in
            let (copy, wanted) = try await fill(rig)
            try await rig.change(copy, "newer", version: "v2")
            let update = ActionRequest(.download, item: copy.localID, reason: .availableOffline)
            _ = try await rig.database.write { [engine = rig.engine] in try engine.enqueue([update], in: $0) }
            try await rig.ask(remove, copy)
            #expect(try await rig.records().filter { $0.localID == copy.localID }.count == 2)
            rig.engine.setOnline(false)
            #expect(try await rig.drain().leftCount == wanted.count + 2)
            #expect(try rig.text("/copy") == "content")

            rig.engine.setOnline(true)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/copy") == nil)
            #expect(try await rig.now(copy).cloudStatus == .cloudOnly)
        }
    }

    @Test(
        "what was started is marked without reading on: no more of the journal is in memory than may start soon",
        .timeLimit(.minutes(20)))
    func window() async throws {
        try await Rig.with(limits: Limits(downloads: 2)) { rig in
            let read = Mutex(0)
            rig.coverage.set { _, _ in read.withLock { $0 += 1 } == () }
            let (_, wanted) = try await fill(rig, whileCovered: true)
            let gate = Gate()
            for item in wanted { rig.source.then(item.path, .hold(gate)) }
            let run = Task { [rig] in try await rig.run() }
            await until { (try? await rig.records().first?.state) == .processing }
            #expect(read.withLock(\.self) == SyncEngine.pageSize)
            gate.open()
            await until { (try? await rig.records().isEmpty) ?? false }
            run.cancel()
            _ = await run.result
            #expect(read.withLock(\.self) >= wanted.count)
        }
    }
}
