import Database
import Model
import TestSupport
import Testing

@testable import Core

/// Tests of live queries as values, without an account.
struct QueryMachineTests {
    @Test(
        "U3 U12 U13: change sets replayed by readers, some of them late, give what a fresh list gives, whatever is asked"
    )
    func anyCourse() async throws {
        let seed = SeededGenerator().seed
        let (trouble, reached) = try await onThread { () -> (String?, Set<String>) in
            var reached: Set<String> = []
            for course in 0..<UInt64(SeededGenerator.rounds()) {
                var model = QueryModel(seed: seed &+ course)
                model.run(steps: 80)
                guard model.findings.isEmpty else {
                    return ("LARDER_TEST_SEED=\(seed &+ course): \(model.findings)", reached)
                }
                reached.formUnion(model.reached)
            }
            return (nil, reached)
        }
        #expect(trouble == nil)
        #expect(
            reached == [
                "removed", "inserted", "updated", "moved", "anew", "in part", "known", "missing", "parentMissing",
            ])
    }

    @Test("U6: another sort, other filters and another limit give a true difference, in which few items move")
    func changed() throws {
        let old = (0..<6).map { ItemRowID(Int64($0)) }
        let set = ChangeSet(from: old, to: [old[5], old[0], old[1], old[3], ItemRowID(9)]) { $0 == old[1] }
        #expect(set.removals.map(\.id) == [old[2], old[4], old[5]])
        #expect(set.insertions == [.init(old[5], at: 0), .init(ItemRowID(9), at: 4)])
        #expect(set.updates == [.init(old[1], at: 2)] && set.moved == [old[5]])
        #expect(set.oldPosition(of: 2) == 1 && set.applied(to: old).last == ItemRowID(9))
        // The courses of the test above change sort, filters and limit at any step.
        var model = QueryModel(seed: 6)
        model.run(steps: 400)
        #expect(model.findings == [])
    }

    @Test("A list of many ids is in order, and finds each, whatever is put in and taken out")
    func order() {
        var random = SeededGenerator()
        var plain = (0..<5_000).map { ItemRowID(Int64($0 * 7)) }.shuffled(using: &random)
        var order = QueryOrder(plain)
        #expect(order.ids == plain && order.count == plain.count)
        for step in 0..<6_000 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let id = ItemRowID(Int64(step) * 7 + 3)
                let position = Int.random(in: 0...plain.count, using: &random)
                plain.insert(id, at: position)
                order.insert(id, at: position)
            } else {
                let position = Int.random(in: plain.indices, using: &random)
                #expect(order.position(of: plain[position]) == position)
                order.remove(plain.remove(at: position))
            }
        }
        #expect(order.ids == plain && order.count == plain.count)
        #expect(plain.indices.allSatisfy { $0 % 97 != 0 || order.position(of: plain[$0]) == $0 })
        #expect(plain.indices.allSatisfy { $0 % 97 != 0 || order.id(at: $0) == plain[$0] })
        #expect(order.position(of: ItemRowID(-1)) == nil)
        for id in plain { order.remove(id) }
        #expect(order.count == 0 && order.ids == [])
        order.insert(ItemRowID(1), at: 0)
        #expect(order.ids == [ItemRowID(1)])
    }

    @Test("Of many turns only the nearest are kept, and the first that may be missing is known")
    func turns() {
        var turns = QueryTurns()
        #expect(turns.next == nil && turns.horizon == nil)
        for second in (1...20_000).reversed() {
            turns.add(ItemRowID(Int64(second)), at: Timestamp(seconds: Int64(second)))
        }
        #expect(turns.next == Timestamp(seconds: 1))
        let horizon = turns.horizon ?? Timestamp(seconds: 0)
        #expect(turns.takeDue(at: Timestamp(seconds: 2)) == [ItemRowID(1), ItemRowID(2)])
        let kept = turns.takeDue(at: horizon)
        #expect(kept.first == ItemRowID(3) && kept.count > 1_000)
        #expect(Timestamp(seconds: (kept.last?.number ?? 0) + 1) == horizon && turns.next == horizon)
    }
}
