import Database
public import Model
import SyncEngine

/// What goes on in a running account, for those who watch it.
public struct AccountActivity: Equatable, Codable, Sendable {
    /// The state of the account.
    public var status: AccountStatus
    /// What the account is busy with; empty if it is idle.
    public var busyWith: [AccountOccupation]
    /// The progress of all transfers.
    public var progress: TransferProgress
    /// The transfers that are under way.
    public var transfers: [TransferUnderWay]
    /// The first issues that wait for a person.
    public var issues: [Issue]
}

/// A view of a running account for one who watches it. It reads the database only after something was written.
public struct ActivityFeed: Sendable {
    /// The number of issues that are told.
    public static let mostIssues = 3
    /// The share of the time that may be spent on counting what policies cover: one part in this many.
    private static let countingShare = 20

    private let host: AccountHost
    private var last: AccountActivity?
    private var writes: Int?
    private var countsPoliciesAt = Duration.zero

    /// Creates a view of an account.
    public init(_ host: AccountHost) { self.host = host }

    /// Tells whether the view is of this account.
    public func isOf(_ host: AccountHost) -> Bool { self.host === host }

    /// Returns what goes on now.
    /// - Returns: Nil if nothing has changed since the last call, and nothing is being transferred.
    /// - Throws: The errors of reading the database.
    public mutating func next() async throws(Failure) -> AccountActivity? {
        let writes = host.database.writes
        var status = last?.status
        var issues = last?.issues ?? []
        if writes != self.writes {
            let reader = AccountReader(bookmark: host.bookmark, clock: host.clock, database: host.database)
            let began = host.clock.monotonic()
            let counts = began >= countsPoliciesAt
            var read = try await reader.status(countsPolicies: counts) { true }
            if counts {
                let end = host.clock.monotonic()
                countsPoliciesAt = end + (end - began) * Self.countingShare
            } else {
                read.policies = status?.policies ?? []
            }
            status = read
            issues = try await reader.issues(limit: Self.mostIssues)
            // If the policies were not counted, the next call reads again.
            self.writes = counts ? writes : nil
        }
        guard var status else { return nil }
        status.pause = host.pause
        status.connection = host.connectionState
        let now = AccountActivity(
            status: status, busyWith: host.busyWith, progress: host.progress, transfers: host.engine.transfers,
            issues: issues)
        guard now != last || !now.transfers.isEmpty else { return nil }
        last = now
        return now
    }
}
