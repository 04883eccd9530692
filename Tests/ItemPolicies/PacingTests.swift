import Database
import ItemPolicies
import Model
import Synchronization
import TestSupport
import Testing

/// Tests of a processor with a maximum number of records, and of a journal that the test works off.
@Suite struct PacingTests {
    private static let reason = DownloadTrigger("org.example.wilful")
    private static let soon = Timestamp(nanoseconds: .max)

    /// A sink that adds each download to the journal, as the sync engine does, and records the highest number of
    /// records.
    private final class Journal: Sendable {
        private let most = Mutex(0)
        var mostLive: Int { most.withLock { $0 } }

        func take(_ intent: Intent, in tx: Transaction) throws {
            guard let id = intent.change.item, let item = try tx.items.item(localID: id) else { return }
            let isDownload = if case .download = intent.change { true } else { false }
            let action: SyncRecord.Action =
                isDownload ? .download : .removeLocalCopy(restoringFormerTrigger: false)
            if let key = intent.key, try tx.journal.record(reason: PacingTests.reason, key: key) != nil { return }
            _ = try tx.journal.insert(
                SyncRecord(
                    action: action, state: .ready, localID: id, path: item.path, reason: PacingTests.reason,
                    key: intent.key, since: .now()))
            let live = try tx.journal.liveCount(reason: PacingTests.reason, waitingUntil: PacingTests.soon)
            most.withLock { $0 = max($0, live) }
        }
    }

    /// Ends the oldest records without a wait condition. Afterwards each of their items has a local copy or, after a
    /// removal, has none.
    private func finish(_ count: Int, _ fixture: ProcessorFixture) async throws {
        try await fixture.database.write { tx in
            var records: [SyncRecord] = []
            try tx.journal.each { record in
                if record.wait == nil { records.append(record) }
                return records.count < count
            }
            for record in records {
                var item = try #require(try tx.items.item(localID: record.localID))
                item.cloudStatus = record.action == .download ? .localCopy : .cloudOnly
                try tx.items.update(item)
                try tx.journal.delete(id: record.id)
            }
        }
        await fixture.policies.waitUntilIdle()
    }

    private func records(_ fixture: ProcessorFixture) async throws -> [SyncRecord] {
        try await fixture.database.read { reads in
            var records: [SyncRecord] = []
            try reads.journal.each { record in
                records.append(record)
                return true
            }
            return records
        }
    }

    @Test(
        "P14: with a maximum no more is asked for than there is room, and what is left comes by itself, half at a time")
    func maximum() async throws {
        let journal = Journal()
        let paths = (0..<55).map { "/\(100 + $0)" }
        try await withProcessorFixture(
            defines: ["MAX_RECORDS=10"], settings: ["match": #"cloudStatus == "cloudOnly""#], items: paths,
            effect: { try journal.take($0, in: $1) }
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.count(of: "performAction") == 10)
            #expect(try await records(fixture).count == 10)
            try await finish(4, fixture)
            #expect(try fixture.calls().filter { $0.trigger == "syncCapacity" } == [])
            try await finish(1, fixture)
            #expect(try await records(fixture).count == 10)
            #expect(
                try fixture.calls().filter { $0.trigger == "syncCapacity" }.map(\.call) == [
                    "performPreflightOnPolicies", "willEnterTrigger", "beginMatching",
                ] + Array(repeating: "performAction", count: 5) + ["endMatching", "didPassTrigger"])
            while try await !records(fixture).isEmpty { try await finish(5, fixture) }
            let asked = try fixture.calls().filter { $0.call == "performAction" }.compactMap(\.path)
            #expect(asked == paths)
            let runs = try fixture.calls().filter { $0.call == "willEnterTrigger" && $0.trigger == "syncCapacity" }
            #expect(runs.count == 9)
            #expect(journal.mostLive == 10)
            #expect(fixture.policies.takeFailures().isEmpty)
        }
    }

    @Test("P14: cleanup is held to the maximum too, and what needs no record takes no room")
    func cleanup() async throws {
        let journal = Journal()
        try await withProcessorFixture(
            defines: ["MAX_RECORDS=2"], settings: ["cleanup": #"cloudStatus == "localCopy""#, "triggers": "0x1e"],
            effect: { try journal.take($0, in: $1) }
        ) { fixture in
            for number in 0..<5 { try await fixture.add("/\(number)", .localCopy) }
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            while try await !records(fixture).isEmpty { try await finish(1, fixture) }
            #expect(try fixture.count(of: "performCleanup") == 5)
            #expect(journal.mostLive == 2)
        }
        let settings = ["match": "true", "triggers": "0x1e"]
        try await withProcessorFixture(defines: ["MAX_RECORDS=2"], settings: settings, items: ["/a", "/b", "/c"]) {
            fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.sink.intents.map(\.key) == ["/a", "/b", "/c"])
            let calls = try fixture.calls()
            #expect(calls.filter { $0.trigger == "syncCapacity" } == [])
        }
    }

    @Test(
        "P15: records that wait for a person, or for long, take no room; their items are not asked for again",
        arguments: [WaitCondition.issue(1), .until(Timestamp(seconds: 4_000_000_000))])
    func stuck(_ wait: WaitCondition) async throws {
        let journal = Journal()
        let paths = (0..<23).map { "/\(100 + $0)" }
        try await withProcessorFixture(
            defines: ["MAX_RECORDS=3"], settings: ["match": #"cloudStatus == "cloudOnly""#], items: paths,
            effect: { try journal.take($0, in: $1) }
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            try await fixture.database.write { tx in
                var records: [SyncRecord] = []
                try tx.journal.each { record in
                    records.append(record)
                    return true
                }
                for var waiting in records {
                    waiting.wait = wait
                    try tx.journal.update(waiting)
                }
            }
            await fixture.policies.waitUntilIdle()
            var rounds = 0
            while try await records(fixture).count > 3, rounds < 30 {
                try await finish(2, fixture)
                rounds += 1
            }
            let asked = try fixture.calls().filter { $0.call == "performAction" }.compactMap(\.path)
            #expect(asked == paths)
            #expect(try await records(fixture).allSatisfy { $0.wait != nil })
        }
    }

    @Test("P14: a call that asks for more than there is room is refused, and the rest comes again")
    func greedy() async throws {
        let journal = Journal()
        try await withProcessorFixture(
            defines: ["MAX_RECORDS=1"], settings: ["match": #"cloudStatus == "cloudOnly""#, "mode": "twice"],
            items: ["/a", "/b"], effect: { try journal.take($0, in: $1) }
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.contains("info: twice -8"))
            #expect(try await records(fixture).map(\.path.text) == ["/a"])
            try await finish(1, fixture)
            #expect(try await records(fixture).map(\.path.text) == ["/b"])
        }
    }

    @Test("P14: what was left is not asked for again and again where nothing comes of it", .timeLimit(.minutes(5)))
    func fruitless() async throws {
        try await withProcessorFixture(
            defines: ["MAX_RECORDS=1"], settings: ["match": #"cloudStatus == "cloudOnly""#, "mode": "twice"],
            items: ["/a", "/b"], effect: { _, _ in }
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let runs = try fixture.calls().filter { $0.call == "willEnterTrigger" }.map(\.trigger)
            #expect(runs == ["itemListUpdateCompleted", "syncCapacity"])
        }
    }
}
