import Database
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests with more downloads than the engine holds in memory at once, and with actions that are requested after them.
struct JournalOrderTests {
    private static let many = JournalReader.pageSize + 300
    private let remove = ItemAction.removeLocalCopy(restoringFormerTrigger: false)

    /// Makes a local copy, then fills the journal with downloads of `many` other files.
    private func fill(_ fixture: EngineFixture, whileCovered: Bool = false) async throws -> (copy: Item, wanted: [Item])
    {
        let copy = try await fixture.addFile("/copy")
        try await fixture.ask(.download, copy)
        #expect(try await fixture.drain().isDone)
        let wanted = try await fixture.addFiles(Self.many) { ("/wanted/f\($0)", "text \($0)") }
        _ = try await fixture.database.write { [engine = fixture.engine] tx in
            try engine.enqueue(
                wanted.map { ActionRequest(.download, item: $0.localID, reason: .user, whileCovered: whileCovered) },
                in: tx)
        }
        return (copy, wanted)
    }

    @Test("P26: a copy is removed without a connection, however many downloads were asked for before")
    func offline() async throws {
        try await EngineFixture.with { fixture in
            let (copy, wanted) = try await fill(fixture)
            fixture.engine.setOnline(false)
            try await fixture.ask(remove, copy)
            let outcome = try await fixture.drain()
            #expect(outcome.isOffline && outcome.leftCount == wanted.count)
            #expect(try await fixture.now(copy).cloudStatus == .cloudOnly)
            #expect(try fixture.text("/copy") == nil)

            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().isDone)
            #expect(try wanted.allSatisfy { try fixture.text($0.path.text) != nil })
            #expect(fixture.source.requests.count == 1 + wanted.count)
        }
    }

    @Test(
        "a removal that is asked for while downloads are under way does not wait for those behind them",
        .timeLimit(.minutes(20)))
    func underWay() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 2)) { fixture in
            let (copy, wanted) = try await fill(fixture)
            let gate = Gate()
            for item in wanted { fixture.source.then(item.path, .hold(gate)) }
            let run = Task { [fixture] in try await fixture.run() }
            await until { fixture.source.requests.count == 1 + 2 }
            try await fixture.ask(remove, copy)
            // The copy is not opened here: a removal that finds it open ends without removing it.
            await until { (try? await fixture.now(copy).cloudStatus) == .cloudOnly }
            #expect(try fixture.text("/copy") == nil)
            #expect(fixture.source.requests.count == 1 + 2)
            gate.open()
            await until { (try? await fixture.records().isEmpty) ?? false }
            run.cancel()
            _ = await run.result
            #expect(try await fixture.now(copy).cloudStatus == .cloudOnly)
            #expect(try wanted.allSatisfy { try fixture.text($0.path.text) != nil })
        }
    }

    @Test("a removal does not overtake what was asked for the same file before")
    func sameFile() async throws {
        try await EngineFixture.with { fixture in
            let (copy, wanted) = try await fill(fixture)
            try await fixture.change(copy, "newer", version: "v2")
            let update = ActionRequest(.download, item: copy.localID, reason: .availableOffline)
            _ = try await fixture.database.write { [engine = fixture.engine] in try engine.enqueue([update], in: $0) }
            try await fixture.ask(remove, copy)
            #expect(try await fixture.records().filter { $0.localID == copy.localID }.count == 2)
            fixture.engine.setOnline(false)
            #expect(try await fixture.drain().leftCount == wanted.count + 2)
            #expect(try fixture.text("/copy") == "content")

            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/copy") == nil)
            #expect(try await fixture.now(copy).cloudStatus == .cloudOnly)
        }
    }

    @Test("P14: what is asked for while as many as may be are under way waits, though it was read after them")
    func beyondMaximum() async throws {
        try await EngineFixture.with { fixture in
            let reason = DownloadTrigger(of: PluginID("org.example.paced"))
            var items: [Item] = []
            for name in ["/a", "/b", "/c", "/d"] { items.append(try await fixture.addFile(name)) }
            let gate = Gate()
            for item in items[..<2] { fixture.source.then(item.path, .hold(gate)) }
            for item in items[..<2] { try await fixture.ask(.download, item, for: reason) }
            var partners = fixture.partners
            partners.maximums = [reason: 2]
            let run = Task { [fixture, partners] in try await fixture.engine.run(with: partners) }
            await until { (try? await fixture.records().allSatisfy { $0.state == .processing }) ?? false }
            try await fixture.ask(.download, items[2], for: reason)
            try await fixture.ask(.download, items[3])
            await until { (try? fixture.text("/d")) == "content" }
            #expect(fixture.source.requestCount(items[2].path) == 0)
            gate.open()
            await until { (try? await fixture.records().isEmpty) ?? false }
            #expect(try fixture.text("/c") == "content")
            run.cancel()
            _ = await run.result
        }
    }

    @Test(
        "what was started is marked without reading on: no more of the journal is in memory than may start soon",
        .timeLimit(.minutes(20)))
    func window() async throws {
        try await EngineFixture.with(limits: Limits(downloads: 2)) { fixture in
            let read = Mutex(0)
            fixture.coverage.set { _, _ in read.withLock { $0 += 1 } == () }
            let (_, wanted) = try await fill(fixture, whileCovered: true)
            let gate = Gate()
            for item in wanted { fixture.source.then(item.path, .hold(gate)) }
            let run = Task { [fixture] in try await fixture.run() }
            await until { (try? await fixture.records().first?.state) == .processing }
            #expect(read.withLock(\.self) == JournalReader.pageSize)
            gate.open()
            await until { (try? await fixture.records().isEmpty) ?? false }
            run.cancel()
            _ = await run.result
            #expect(read.withLock(\.self) >= wanted.count)
        }
    }
}
