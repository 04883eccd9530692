import Connection
import Database
import LocalTree
public import Model

extension SyncEngine {
    /// How long failures wait before the next try.
    static let backoff = Backoff(first: .milliseconds(500), cap: .seconds(300))
    /// No record waits for longer, whatever the server asks for.
    static let longestWait = Duration.seconds(24 * 3600)
    /// What waits longer than this is left by ``drain(only:with:)``.
    static let longestDrainWait = Duration.seconds(10)
    /// So often ``drain(only:with:)`` waits for a server that does not answer.
    static let mostHoldsInDrain = 5
    /// How long a copy that another program has open is left alone.
    static let inUseDelay = Duration.seconds(30)

    /// Works until the task is cancelled. What is under way then goes on at the next start.
    /// - Throws: when the database cannot be used.
    public func run(with partners: Partners) async throws { _ = try await work(draining: false, with: partners) }

    /// Works until nothing is left that could go on within ten seconds, and no more is expected.
    /// - Parameter records: Only these are worked at, and told of; nil: all.
    /// - Returns: what is left, and why.
    /// - Throws: when the database cannot be used; `CancellationError` when the task was cancelled.
    public func drain(only records: Set<SyncRecordID>? = nil, with partners: Partners) async throws -> DrainOutcome {
        let outcome = try await work(draining: true, only: records, with: partners)
        try Task.checkCancellation()
        return outcome
    }

    private func work(
        draining: Bool, only records: Set<SyncRecordID>? = nil, with partners: Partners
    ) async throws -> DrainOutcome {
        let isFirst = controls.with { state in
            defer { state.isRunning = true }
            (state.flags.isStale, state.flags.hasNews) = (true, true)
            return !state.isRunning
        }
        precondition(isFirst, "The sync engine is run once at a time")
        defer {
            controls.with { state in
                state.isRunning = false
                state.enders = [:]
                state.cancelled = []
            }
            controls.treeAccess.open()
        }
        await controls.treeAccess.close()
        return try await EngineRun.run(self, draining: draining, only: records, with: partners)
    }

    /// There may be new records, or new metadata of items that records wait for: to be called after every commit that says so.
    public func wake() { controls.update { $0.hasNews = true } }

    /// Whether more records are to come. As long as they are, ``drain(only:with:)`` does not end, and complete downloads wait a moment
    /// longer for others. False at first.
    public func expectMore(_ expectsMore: Bool) { controls.update { $0.expectsMore = expectsMore } }

    /// Policies have changed: downloads that were not started and are covered no longer are dropped.
    public func policiesChanged() { controls.update { $0.isStale = true } }

    /// Whether downloads may start. Removing copies needs no server. True at first.
    public func setOnline(_ isOnline: Bool) { controls.update { $0.isOnline = isOnline } }

    /// Whether downloads may start.
    public var isOnline: Bool { controls.with { $0.flags.isOnline } }

    /// The credentials, the certificate or the network have changed: what the server refused or did not answer is tried at once.
    /// - Throws: As ``Database/write(_:)``; nothing is tried anew then.
    public func accountChanged() async throws {
        try await database.write { [account] tx in
            _ = try tx.issues.remove(code: IssueCode.authentication.rawValue, subject: account)
        }
        controls.update { $0.isReset = true }
    }

    /// How far the downloads are.
    public var progress: SyncProgress { counters.current }
}
