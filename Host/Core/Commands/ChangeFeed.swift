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
        var (outcome, _, places) = try await engine.following(nil) {
            try await queueAndMake(feed, after: earlier, waits: waits)
        }
        outcome.add(places)
        return outcome
    }

    private func queueAndMake(
        _ feed: ChangeFeed, after earlier: [SyncRecordID], waits: Bool
    ) async throws -> ChangeOutcome {
        let (last, isFirst) = try await database.read { try ($0.journal.lastID(), $0.journal.changeCount() == 0) }
        // Earlier changes may have to be made first, which is known when all are queued.
        let overlaps = waits && isFirst && earlier.isEmpty
        engine.expectMore(true)
        defer { engine.expectMore(false) }
        return try await withThrowingTaskGroup(of: Result<DrainOutcome, Failure>.self) { [self] group in
            var records = Set(earlier)
            var isDraining = false
            while true {
                let changes = await feed.next()
                guard !changes.isEmpty else { break }
                let queued = try await enqueue(changes)
                engine.wake()
                records.formUnion(queued.compactMap(\.record))
                await feed.queued(queued)
                if overlaps, !isDraining, !records.isEmpty {
                    isDraining = true
                    group.addTask { [self] in
                        try await drainWhenReached { try await $0.engine.drain(after: last, with: $0.partners) }
                    }
                }
            }
            engine.expectMore(false)
            var outcome = ChangeOutcome()
            guard waits, !records.isEmpty else { return outcome }
            var drained = try await group.next()
            if drained?.isOver != false {
                // A drain that has ended before the feed does not know of all records.
                drained = try await drainWhenReached { [records] in
                    try await $0.engine.drain(only: records, with: $0.partners)
                }
            }
            switch drained {
            case .failure(let failure): outcome.add(failure, leaving: records)
            case .success(let drained): try await outcome.add(drained, of: self, isAtWork: false, leaving: records)
            case nil: break
            }
            return outcome
        }
    }

    private func drainWhenReached(
        _ drain: @Sendable (AccountHost) async throws -> DrainOutcome
    ) async throws -> Result<DrainOutcome, Failure> {
        do throws(Failure) { try await reachServer(isAtWork: false) } catch { return .failure(error) }
        return .success(try await drain(self))
    }
}

extension Result<DrainOutcome, Failure> {
    /// Whether the server could be asked for all of it.
    fileprivate var isOver: Bool {
        switch self {
        case .success(let drained): drained.failure == nil && !drained.isOffline
        case .failure: false
        }
    }
}
