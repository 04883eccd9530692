import Database
public import Model
import SyncEngine

/// Changes of the server that are found one after the other, while those before them are being made.
public struct ChangeFeed: Sendable {
    /// Returns the next changes; none at the end.
    public var next: @Sendable () async -> [ChangeRequest]
    /// Receives the outcomes of the changes that `next` has returned last, when they are queued.
    public var queued: @Sendable ([ChangeOutcome.Change]) async -> Void

    /// Creates a feed.
    public init(
        next: @escaping @Sendable () async -> [ChangeRequest],
        queued: @escaping @Sendable ([ChangeOutcome.Change]) async -> Void
    ) {
        (self.next, self.queued) = (next, queued)
    }
}

extension AccountHost {
    /// Makes the changes of a feed. Beside a run each of them is a ``ServerChange``; here no run is in progress, and the
    /// changes are made while the feed finds more.
    /// - Parameters:
    ///   - feed: The changes.
    ///   - earlier: The records of earlier changes, for which the function waits too.
    ///   - waits: Whether the changes are made. Otherwise the next run makes them.
    ///   - progress: Receives the progress when it has changed, at most twice a second. Called on any thread.
    /// - Returns: The outcome, without that of each change.
    /// - Throws: As ``AccountCommand/carryOut(for:)``. It is not known then which changes are queued.
    public func make(
        _ feed: ChangeFeed, after earlier: [SyncRecordID], waits: Bool,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(Failure) -> ChangeOutcome {
        try await reporting(to: progress) { [self] () async throws(Failure) in
            try await failing {
                try await work.turn {
                    try await recover()
                    return try await makeAlone(feed, after: earlier, waits: waits)
                } atWork: {
                    throw Failure.stopping
                }
            }
        }
    }

    private func makeAlone(
        _ feed: ChangeFeed, after earlier: [SyncRecordID], waits: Bool
    ) async throws -> ChangeOutcome {
        var outcome = ChangeOutcome()
        let last = try await database.read { try $0.journal.lastID() }
        engine.expectMore(true)
        defer { engine.expectMore(false) }
        async let drained = waits ? drainWhenReached(after: last) : nil
        var records = Set(earlier)
        while true {
            let changes = await feed.next()
            guard !changes.isEmpty else { break }
            let queued = try await enqueue(changes)
            engine.wake()
            records.formUnion(queued.compactMap(\.record))
            await feed.queued(queued)
        }
        engine.expectMore(false)
        guard let drained = try await drained else { return outcome }
        switch drained {
        case .failure(let failure): outcome.add(failure, leaving: records)
        case .success(let drained):
            try await outcome.add(drained, of: self, isAtWork: false)
            // What was queued before counts too, if it is what was asked for.
            let before = records.filter { $0 <= last }
            if !before.isEmpty {
                try await outcome.add(try await engine.drain(only: before, with: partners), of: self, isAtWork: false)
            }
        }
        return outcome
    }

    private func drainWhenReached(after last: SyncRecordID) async throws -> Result<DrainOutcome, Failure>? {
        do throws(Failure) { try await reachServer(isAtWork: false) } catch { return .failure(error) }
        return .success(try await engine.drain(after: last, with: partners))
    }
}
