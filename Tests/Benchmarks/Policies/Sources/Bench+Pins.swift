import Database
import ItemPolicies
import Model

extension Bench {
    /// Measures passes, the addition of a pin and changes of items, with 10 and with many pinned folders (10,000 for a
    /// million items). With many folders the cost per matching item of a pass and of an addition, and the cost of a
    /// change, may at most double.
    func manyPins() async throws -> [Row] {
        let counts = [10, items / 100]
        var passes: [Double] = []
        var additions: [Double] = []
        var changes: [Double] = []
        var rows: [Row] = []
        for count in counts {
            let fixture = try DatabaseFixture(in: folder, "pins-\(count)", items: items, .cloudOnly)
            let database = fixture.database
            try database.writeBlocking { transaction in
                for number in 0..<count - 1 {
                    try transaction.policies.add(pin(number), by: .somebody, runsTrigger: false)
                }
            }
            let work = try await AtWork(
                on: database, plugin: "org.larder.available-offline", library: availableOffline,
                settings: "{\"keep-downloads\": true}")
            try await work.run {
                let addition = try await work.time {
                    try database.writeBlocking { try _ = $0.policies.add(pin(count - 1), by: .somebody) }
                }
                additions.append(addition / .milliseconds(1))
                var times: [Duration] = []
                for _ in 0..<rounds {
                    times.append(try await work.time { work.policies.fire(.itemListUpdateCompleted) })
                }
                passes.append(median(times))
                times = []
                for round in 0..<rounds * 5 {
                    // The changed items are pinned with either number of pins.
                    times.append(try await work.time { try touch(10, of: 1_000, in: database, round: round) })
                }
                changes.append(median(times))
            }
        }
        for (what, times) in [("pin one more of \(counts[0])", additions), ("pass, \(counts[0]) pins", passes)] {
            rows.append(Row(what: what, items: counts[0] * 100, value: times[0]))
            let perItem = times[1] / Double(counts[1]) / (times[0] / Double(counts[0]))
            rows.append(
                Row(
                    what: what.replacing("\(counts[0])", with: "\(counts[1])"), items: counts[1] * 100, value: times[1],
                    comparison: (perItem, "with 10, per item that matches", 2)))
        }
        for (place, count) in counts.enumerated() {
            let ratio = changes[place] / changes[0]
            rows.append(
                Row(
                    what: "10 items change, \(count) pins", items: items, value: changes[place],
                    comparison: place == 0 ? nil : (ratio, "with 10", 2)))
        }
        return rows
    }

    private func pin(_ number: Int) -> ItemPolicy {
        let digits = String(number)
        let folder = "/folder-" + String(repeating: "0", count: 5 - digits.count) + digits
        return ItemPolicy(
            kind: .availableOffline, condition: "path == \"\(folder)\" || path.startsWith(\"\(folder)/\")",
            path: ItemPath(unchecked: folder), localID: LocalID("folder-\(number)"))
    }
}

extension PolicyAuthor {
    fileprivate static let somebody = PolicyAuthor.person("somebody", at: Timestamp(seconds: 1))
}
