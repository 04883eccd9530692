import Connection
import Database
import LocalTree
public import Model
import Threads

extension SyncEngine {
    /// The delay after failures before the next try.
    static let backoff = Backoff(first: .milliseconds(500), cap: .seconds(300))
    /// The delay before the next try of what has failed so often that it is not likely to pass soon.
    static let longBackoff = Backoff(first: .seconds(60), cap: .seconds(6 * 3600))
    /// The longest wait of a record, whatever the server asks for.
    static let longestWait = Duration.seconds(24 * 3600)
    /// The wait beyond which ``drain(only:with:)`` leaves a record.
    static let longestDrainWait = Duration.seconds(10)
    /// The number of holds for which ``drain(only:with:)`` waits when the server does not answer.
    static let mostHoldsInDrain = 5
    /// The time for which a copy that another program has open is left alone.
    static let inUseDelay = Duration.seconds(30)

    /// Works until the task is cancelled. Actions that are under way then go on at the next start.
    /// - Throws: An error if the database cannot be used.
    public func run(with partners: any EnginePartners) async throws {
        _ = try await work(draining: false, only: .all, with: partners)
    }

    /// Works until nothing is left that can go on within ten seconds, and no more records are expected.
    /// - Parameter records: The records to work on and to report, or nil for all records. Changes of the server that
    ///   must be made before them are made too.
    /// - Returns: The records that are left, with the reasons.
    /// - Throws: An error if the database cannot be used; `CancellationError` if the task was cancelled.
    public func drain(
        only records: Set<SyncRecordID>? = nil, with partners: any EnginePartners
    ) async throws -> DrainOutcome {
        guard let records else { return try await drain(.all, with: partners) }
        return try await drain(
            .these(records, behind: try await database.read { try $0.changes(before: records) }), with: partners)
    }

    /// Works as ``drain(only:with:)`` on the records that were or will be added after another one. No change of the
    /// server that was requested before may be in the journal: it may have to be made first.
    public func drain(after record: SyncRecordID, with partners: any EnginePartners) async throws -> DrainOutcome {
        try await drain(.after(record), with: partners)
    }

    private func drain(_ only: RecordSelection, with partners: any EnginePartners) async throws -> DrainOutcome {
        let outcome = try await work(draining: true, only: only, with: partners)
        try Task.checkCancellation()
        return outcome
    }

    private func work(
        draining: Bool, only records: RecordSelection, with partners: any EnginePartners
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
                state.endedChanges = []
            }
            controls.treeAccess.open()
        }
        await controls.treeAccess.close()
        return try await EngineRun.run(context, waits, draining: draining, only: records, with: partners)
    }

    /// Runs a body with exclusive access to the tree. While the body runs, the engine neither puts anything into the
    /// tree nor takes anything out of it, and the item of each file in place knows of the file. The function serves
    /// changes of paths in the tree that go with changes of rows.
    /// - Throws: The error that `body` throws.
    public func withExclusiveTree<T>(_ body: () async throws -> T) async rethrows -> T {
        await controls.treeAccess.acquire(ask: controls.signal.send)
        defer {
            controls.treeAccess.release()
            controls.signal.send()
        }
        return try await body()
    }

    /// Tells the engine that there may be new records, or new metadata of items for which records wait. Must be called
    /// after every commit that writes either.
    public func wake() { controls.update { $0.hasNews = true } }

    /// Tells the engine of records that have left the journal, or that wait for something since a commit. Must be
    /// called after that commit.
    public func rest(_ records: [SyncRecordID]) { waits.rest(records) }

    /// Tells the engine whether more records will come. As long as more are expected, ``drain(only:with:)`` does not
    /// end, and complete downloads wait a moment longer for others. The initial value is false.
    public func expectMore(_ expectsMore: Bool) { controls.update { $0.expectsMore = expectsMore } }

    /// Tells the engine that policies have changed. The engine drops the downloads that were not started and are no
    /// longer covered.
    public func policiesChanged() { controls.update { $0.isStale = true } }

    /// Sets whether downloads may start. The removal of copies needs no server and goes on in any case. The initial
    /// value is true.
    public func setOnline(_ isOnline: Bool) { controls.update { $0.isOnline = isOnline } }

    /// Keeps downloads from starting until ``setOnline(_:)``, and ends those that are under way. What has arrived of them
    /// is kept, and an end does not count as a failure.
    public func stopDownloads() {
        setOnline(false)
        // No download starts from here on.
        let (ends, batches) = controls.with { (Array($0.enders.values), $0.batches) }
        for end in ends { end() }
        for batch in batches { batch.endAll() }
    }

    /// Tells the engine that the credentials, the certificate or the network have changed. The requests that the server
    /// refused or did not answer are tried again at once.
    /// - Throws: As ``Database/write(_:)``. Nothing is tried again then.
    public func accountChanged() async throws {
        try await database.write { [account = context.account] tx in
            _ = try tx.issues.remove(code: IssueCode.authentication.rawValue, subject: account)
        }
        controls.update { $0.isReset = true }
    }
}
