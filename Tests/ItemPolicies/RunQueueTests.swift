import Database
import Model
import TestSupport
import Testing

@testable import ItemPolicies

@Suite struct RunQueueTests {
    private func items(
        _ anchor: Int64, added: [ItemRowID] = [], updated: [ItemRowID] = [], removed: [ItemRowID] = []
    ) -> CommitChanges {
        var changes = CommitChanges()
        changes.anchor = anchor
        changes.added = added
        changes.updated = updated
        changes.removed = removed
        return changes
    }

    @Test("P10, P16: each transaction is a run of its own, in order, each item once")
    func transactions() {
        var queue = RunQueue()
        queue.add(items(1, added: [5, 4], updated: [4, 6], removed: [5]))
        queue.add(items(2, updated: [4]))
        #expect(queue.waiting.map(\.cause) == [.items([5, 4, 6], anchor: 1), .items([4], anchor: 2)])
        #expect(queue.next()?.cause == .items([5, 4, 6], anchor: 1))
    }

    @Test("P13, P16: of one trigger after a scan one waiting run is enough; each change of policies has its own")
    func triggers() {
        var queue = RunQueue()
        for trigger in [Trigger.itemListUpdateCompleted, .policiesChanged, .itemListUpdateCompleted, .policiesChanged] {
            queue.add(trigger)
        }
        #expect(
            queue.waiting.map(\.cause) == [
                .all(.itemListUpdateCompleted), .all(.policiesChanged), .all(.policiesChanged),
            ])
    }

    @Test("G45, P16: of changes of records one waiting run is enough, beside those of the same transaction")
    func records() {
        var queue = RunQueue()
        var changes = items(3, added: [1])
        changes.collections = [RecordCollection("shares"), RecordCollection("account")]
        changes.triggersPolicies = true
        queue.add(changes)
        #expect(
            queue.waiting.map(\.cause) == [.items([1], anchor: 3), .all(.policiesChanged), .all(.recordsChanged)])
        var other = CommitChanges()
        other.collections = [RecordCollection("calendars")]
        queue.add(other)
        #expect(queue.waiting.count == 3)
        for _ in 1...3 { _ = queue.next() }
        queue.add(other)
        #expect(queue.waiting.map(\.cause) == [.all(.recordsChanged)])
    }

    @Test("P16: what a run's own transaction set off is a follow-up, what came from outside is not")
    func rounds() {
        var queue = RunQueue()
        var own = items(7, updated: [1])
        own.triggersPolicies = true
        queue.add(items(6, updated: [1]))
        queue.add(own)
        queue.follow(own, round: 3, asker: PluginID("a"))
        #expect(queue.waiting.map(\.round) == [0, 4, 4])
        #expect(queue.waiting.map(\.askers) == [[], [PluginID("a")], [PluginID("a")]])
    }
}
