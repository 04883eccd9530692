import CLoop
import Database
import ItemPolicies
import Model

extension Bench {
    /// Measures plugins in several languages that read three fields of every item, in turns. They must get them nearly
    /// as fast as SQLite alone returns them; those in C++ and Rust as fast as the one in C.
    func languages() async throws -> [Row] {
        let condition = "type == 'file' && !removed"
        let names = ["C", "C++", "Rust", "Swift"]
        let fixture = try DatabaseFixture(in: folder, "languages", items: items, .cloudOnly)
        var (loops, passes, ofLoop, ofC) = (
            [Duration](), [String: [Duration]](), [String: [Double]](), [String: [Double]]()
        )
        func measure(_ work: [AtWork]) async throws {
            for round in 0...rounds {
                let start = processorTime()
                let sum = try fixture.loop(over: condition)
                let loop = processorTime() - start
                var times: [String: Duration] = [:]
                // Each comes first in some rounds.
                for place in names.indices.map({ ($0 + round) % names.count }) {
                    let (name, work) = (names[place], work[place])
                    times[name] = try await work.time { work.policies.fire(.itemListUpdateCompleted) }
                    guard work.said.last == "\(sum.rows) \(sum.sum)" else {
                        throw BenchmarkError("\(name) read \(work.said.last), the loop \(sum.rows) \(sum.sum)")
                    }
                }
                guard round > 0, let c = times["C"] else { continue }
                loops.append(loop)
                for (name, time) in times {
                    passes[name, default: []].append(time)
                    ofLoop[name, default: []].append(time / loop)
                    ofC[name, default: []].append(time / c)
                }
            }
        }
        var work: [AtWork] = []
        for name in names {
            guard let library = readers[name] else { throw BenchmarkError("there is no plugin in \(name)") }
            work.append(
                try await AtWork(
                    on: fixture.database, plugin: "org.example.reader", library: library,
                    settings: "{\"match\": \"\(condition)\"}"))
        }
        let all = work
        try await all[0].run {
            try await all[1].run { try await all[2].run { try await all[3].run { try await measure(all) } } }
        }
        func middle(_ ratios: [Double]?) -> Double { (ratios ?? []).sorted()[rounds / 2] }
        return [Row(what: "loop in C, reads 3 columns", items: items, value: median(loops))]
            + names.map { name in
                Row(
                    what: "pass, plugin in \(name)", items: items, value: median(passes[name] ?? []),
                    comparison: (middle(ofLoop[name]), "the loop", 1.25))
            }
            + ["C++", "Rust"].map { name in
                Row(
                    what: "pass, plugin in \(name)", items: items, value: median(passes[name] ?? []),
                    comparison: (middle(ofC[name]), "the one in C", 1 / 0.95))
            }
    }
}
