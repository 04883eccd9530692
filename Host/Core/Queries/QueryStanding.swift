import Database
import LocalTree
import Model

/// What policies, claims and shares say of items, as far as items' rows do not tell it.
struct QueryStanding: Sendable {
    let facts: ConditionFacts
    let coverage: AvailableOfflineCoverage
    let claims: [LocalID: ClaimKinds]
    let shares: [ItemPath: [RecordKey]]
    /// The coverage with which all items were compared last, and when.
    private(set) var compared: (coverage: AvailableOfflineCoverage, at: Timestamp)
    /// The time between two comparisons of all listed items, where policies depend on time.
    private static let interval = Duration.seconds(60)

    init(_ reads: ReadTransaction, now: Timestamp) throws {
        facts = try ConditionFacts(reads, world: .current(now: now))
        coverage = try AvailableOfflineCoverage(reads, now: now)
        claims = try reads.claims.kinds(in: .current(now: now))
        shares = try reads.records.sharesByPath()
        compared = (coverage, now)
    }

    /// Returns the rows of which the standing before has shown something else.
    /// - Parameter listed: The rows that are asked for where all of them have to be compared.
    mutating func differences(
        from before: QueryStanding, among listed: () -> Set<ItemRowID>, _ rows: StoredRows
    ) throws -> Set<ItemRowID> {
        var found: Set<ItemRowID> = []
        for id in Set(claims.keys).union(before.claims.keys) where claims[id] != before.claims[id] {
            if let item = try rows.item(localID: id) { found.insert(item.databaseID) }
        }
        for path in Set(shares.keys).union(before.shares.keys) where shares[path] != before.shares[path] {
            if let item = try rows.item(at: path) { found.insert(item.databaseID) }
        }
        let (old, now) = (before.compared, compared.at)
        guard
            coverage.revisions != old.coverage.revisions
                || (coverage.dependsOnTime && (now < old.at || now - old.at >= Self.interval))
        else {
            compared = old
            return found
        }
        for row in listed() {
            guard let item = try rows.item(row) else { continue }
            if coverage.of(item) != old.coverage.of(item) { found.insert(row) }
        }
        return found
    }

    /// Returns what is told of an item.
    func report(_ item: Item, _ reads: ReadTransaction, files: String) throws -> ItemReport {
        ItemReport(
            item: try reads.journal.queued(item), availableOffline: coverage.of(item),
            isClaimed: claims[item.localID] != nil,
            localPath: item.cloudStatus == .cloudOnly ? nil : files + (item.path.isRoot ? "" : item.path.text),
            shares: item.isRemoved ? [] : shares[item.path] ?? [])
    }
}
