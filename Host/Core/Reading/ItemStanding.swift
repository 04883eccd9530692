import Database
import LocalTree
import Model

/// What policies and claims say of items, as far as items' rows do not tell it.
struct ItemStanding {
    private let coverage: AvailableOfflineCoverage
    private let claims: [LocalID: ClaimKinds]

    init(_ reads: ReadTransaction, now: Timestamp) throws {
        coverage = try AvailableOfflineCoverage(reads, now: now)
        claims = try reads.claims.kinds(in: .current(now: now))
    }

    /// Returns what is told of an item.
    /// - Parameter files: The folder of the local copies.
    func report(_ item: Item, _ reads: ReadTransaction, files: String) throws -> ItemReport {
        ItemReport(
            item: try reads.journal.queued(item), availableOffline: coverage.of(item),
            isClaimed: claims[item.localID] != nil,
            localPath: item.cloudStatus == .cloudOnly ? nil : files + (item.path.isRoot ? "" : item.path.text),
            shares: item.isRemoved ? [] : try reads.records.shares(of: item.path))
    }
}
