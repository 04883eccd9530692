import CLoop
import Database
import ItemPolicies
import Model

/// The measurements.
struct Bench {
    let folder: String
    /// The libraries of the plugin that reads items, by the language.
    let readers: [String: String]
    let availableOffline: String
    let rounds: Int
    /// The number of items in the large database; the small database has 1,000.
    let items: Int

    private func reading(_ database: Database, _ condition: String) async throws -> AtWork {
        try await AtWork(
            on: database, plugin: "org.example.reader", library: readers["C"] ?? "",
            settings: "{\"match\": \"\(condition)\"}")
    }

    /// Measures a full-table trigger, whose cost must depend on the number of matching items, not on the number of
    /// items. It is measured when nothing was written since the last trigger, and when something was, so that pages
    /// that were read before do not count.
    func fewMatch() async throws -> [Row] {
        let unused = "cloudStatus == 'localCopy' && lastUsed < now - duration('168h')"
        var (again, anew): ([Double], [Double]) = ([], [])
        for count in [1_000, items] {
            let fixture = try DatabaseFixture(in: folder, "match", items: count, .hundredCopies)
            let work = try await reading(fixture.database, unused)
            try await work.run {
                var times: [Bool: [Duration]] = [:]
                for round in 0...rounds * 40 {
                    let isAnew = round % 2 == 0
                    if isAnew {
                        try fixture.database.writeBlocking {
                            try $0.meta.set(MetaKey("benchmark"), Int64(round))
                        }
                    }
                    let time = try await work.time { work.policies.fire(.itemListUpdateCompleted) }
                    if round > 0 { times[isAnew, default: []].append(time) }
                }
                again.append(median(times[false] ?? []))
                anew.append(median(times[true] ?? []))
            }
            guard work.said.last.hasPrefix("100 ") else { throw BenchmarkError("read \(work.said.last)") }
        }
        // Each of the matching items is on a page of its own, which is then read from the file. The more items there
        // are, the more pages are on the way to it.
        let what = "pass, 100 items match"
        return [(again, what, 3), (anew, "the same, first after a write", nil as Double?)].flatMap {
            times, what, most in
            [
                Row(what: what, items: 1_000, value: times[0]),
                Row(what: what, items: items, value: times[1], comparison: (times[1] / times[0], "of 1,000", most)),
            ]
        }
    }

    /// Measures a plugin that reads three fields of every item. The plugin must get them nearly as fast as SQLite alone
    /// returns them.
    func allRead() async throws -> [Row] {
        let condition = "type == 'file' && !removed"
        var rows: [Row] = []
        var peaks: [Int] = []
        for count in [10_000, items] {
            let fixture = try DatabaseFixture(in: folder, "read", items: count, .cloudOnly)
            let work = try await reading(fixture.database, condition)
            var (loops, passes): ([Duration], [Duration]) = ([], [])
            // Each ratio compares times of the same round, because the speed of a machine varies.
            var ratios: [Double] = []
            try await work.run {
                for round in 0...rounds {
                    let start = processorTime()
                    let sum = try fixture.loop(over: condition)
                    let loop = processorTime() - start
                    try Memory.forgetPeak()
                    let pass = try await work.time { work.policies.fire(.itemListUpdateCompleted) }
                    if round == 0 { continue }
                    loops.append(loop)
                    passes.append(pass)
                    ratios.append(pass / loop)
                    guard work.said.last == "\(sum.rows) \(sum.sum)" else {
                        throw BenchmarkError("the plugin read \(work.said.last), the loop \(sum.rows) \(sum.sum)")
                    }
                }
            }
            peaks.append(try Memory.peak())
            rows.append(Row(what: "loop in C, reads 3 columns", items: count, value: median(loops)))
            rows.append(
                Row(
                    what: "pass, plugin reads 3 fields", items: count, value: median(passes),
                    comparison: (ratios.sorted()[ratios.count / 2], "the loop", count == items ? 1.25 : 10)))
        }
        let megabytes = peaks.map { Double($0) / 1_000 }
        rows.append(Row(what: "peak memory in a pass", items: 10_000, value: megabytes[0], unit: "MB"))
        rows.append(
            Row(
                what: "peak memory in a pass", items: items, value: megabytes[1], unit: "MB",
                comparison: (megabytes[1] / megabytes[0], "of 10,000", 1.25)))
        return rows
    }

    /// Measures a change and the work that follows it, whose cost must depend on the number of changed items.
    func fewChange() async throws -> [Row] {
        var times: [Double] = []
        for count in [1_000, items] {
            let fixture = try DatabaseFixture(in: folder, "change", items: count, .hundredCopies)
            let database = fixture.database
            let work = try await reading(database, "type == 'file' && !removed")
            try await work.run {
                var rounds: [Duration] = []
                for round in 0...self.rounds * 20 {
                    let time = try await work.time { try touch(10, of: count, in: database, round: round) }
                    if round > 0 { rounds.append(time) }
                }
                times.append(median(rounds))
            }
        }
        let what = "10 items change, and the pass after it"
        return [
            Row(what: what, items: 1_000, value: times[0]),
            Row(what: what, items: items, value: times[1], comparison: (times[1] / times[0], "of 1,000", 2)),
        ]
    }

    /// Writes some items, which are spread over all items and differ from round to round.
    func touch(_ some: Int, of count: Int, in database: Database, round: Int) throws {
        try database.writeBlocking { transaction in
            for number in 0..<some {
                let id = ItemRowID(Int64((round * 7919 + number * 104_729) % count + 1))
                guard var item = try transaction.items.item(databaseID: id) else { continue }
                item.lastUsed = .now()
                try transaction.items.updateLocal(item)
            }
        }
    }
}
