import Model
import Storage

/// Whether items are pinned: themselves, by a folder above, or not (P32).
struct AvailableOfflineCoverage: Sendable {
    private let policies: [(policy: ItemPolicy, condition: Condition)]
    private let now: Timestamp

    init(_ reads: some DatabaseReads, now: Timestamp) throws {
        policies = try reads.policies(kind: .availableOffline).map { ($0, try $0.parsedCondition()) }
        self.now = now
    }

    func of(_ item: Item) -> ItemReport.AvailableOffline {
        var isCovered = false
        for (policy, condition) in policies where condition.matches(item, now: now) {
            if policy.path == item.path || policy.localID == item.localID { return .direct }
            isCovered = true
        }
        return isCovered ? .indirect : .none
    }
}
