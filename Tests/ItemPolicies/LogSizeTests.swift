import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// Tests of runs that write more than the database's log may hold.
@Suite struct LogSizeTests {
    private static let count = 12_000

    /// Runs a pass over many items. Each request writes at least two pages, and changes an item that comes later in the
    /// pass, so that only its state at the start of the run meets the condition.
    /// - Parameters:
    ///   - hasPlaceForCopy: Whether the copy of a state can be made.
    ///   - check: Checks what the run has left.
    /// - Returns: The size of the largest log, in pages of 4 KiB.
    private func runPass(
        hasPlaceForCopy: Bool = true, _ check: @escaping @Sendable (ProcessorFixture) async throws -> Void
    ) async throws -> Int {
        let sizes = Collected<Int>()
        let effect: @Sendable (Intent, Transaction) throws -> Void = { intent, tx in
            guard let id = intent.change.item.flatMap({ Int($0.text) }) else { return }
            try tx.plugins.setValue(
                of: intent.plugin, key: Array("\(id % 1_000)".utf8), [UInt8](repeating: UInt8(id % 251), count: 8_000))
            if var last = try tx.items.item(localID: LocalID("\(Self.count - 1 - id)")) {
                last.size = 2
                try tx.items.update(last)
            }
        }
        // Only the trigger `itemListUpdateCompleted` makes the processor run.
        let settings = ["triggers": "2", "match": "size == 1", "cleanup": "size == 2"]
        try await withProcessorFixture(settings: settings, effect: effect) { fixture in
            try await fixture.database.write { tx in
                for id in 0..<Self.count {
                    var item = Item(
                        localID: LocalID("\(id)"), fileID: nil, path: ItemPath(unchecked: "/\(100_000 + id)"),
                        kind: .file)
                    item.size = 1
                    try tx.items.insert(item)
                }
            }
            if !hasPlaceForCopy { try Files.makeFolder(fixture.database.path + "-state") }
            let (database, policies) = (fixture.database, fixture.policies)
            database.setCommitObserver { changes in
                sizes.add(database.logSize)
                policies.databaseChanged(changes)
            }
            policies.fire(.itemListUpdateCompleted)
            await policies.waitUntilIdle()
            #expect(fixture.sink.intents.map(\.key) == (0..<Self.count).map { "/\(100_000 + $0)" })
            #expect(policies.takeFailures().isEmpty)
            try await check(fixture)
        }
        return (sizes.all.max() ?? 0) / 4_096
    }

    @Test("H6: A pass whose requests write more than the log may hold keeps the log short, its items and their order")
    func bounded() async throws {
        let longest = try await runPass { fixture in
            let cleanups = try fixture.count(of: "performCleanup")
            #expect(cleanups == 0)
            #expect(!fixture.log.messages.contains { $0.contains("log of the database") })
        }
        // The log may get as long as the limit, and then a few transactions longer.
        #expect(longest > Database.longestPinnedLog / 4_096)
        #expect(longest < 2 * Database.longestPinnedLog / 4_096)
    }

    @Test("A pass goes on and says so if its state cannot be copied")
    func unbounded() async throws {
        let longest = try await runPass(hasPlaceForCopy: false) { fixture in
            #expect(fixture.log.messages.count { $0.contains("log of the database") } == 1)
        }
        #expect(longest > 3 * Database.longestPinnedLog / 4_096)
    }
}
