import Database
public import Model
import Threads

extension SyncEngine {
    /// Waits, beside ``run(with:)`` or ``drain(only:with:)``, until the engine has done what it can do about records: no
    /// record is left that goes on within ten seconds. If everything is held because nobody answered, and one of the
    /// records needs the server, the server is asked again at once. Cancelling the task leaves the work as it is.
    /// - Parameter records: The records.
    /// - Returns: The records that are left, with the reasons.
    /// - Throws: As ``Database/read(_:)``; `CancellationError` if the task was cancelled.
    public func wait(for records: Set<SyncRecordID>) async throws -> DrainOutcome {
        let number = waits.state.change { state in
            state.last += 1
            state.records[state.last] = records
            return state.last
        }
        defer { waits.state.change { ($0.records[number], $0.before[number]) = (nil, nil) } }
        // What the engine says is only about these records when it has heard of them.
        let needsServer = try await !goingOn(records).downloads.isEmpty
        let version = controls.update { flags in
            flags.hasNews = true
            if needsServer { flags.isDemanded = true }
        }
        var standstill = Standstill()
        while true {
            let before = try await database.read { try $0.changes(before: records) }
            // A record that rests from here on is taken out even if it was read before.
            waits.state.change { ($0.records[number], $0.before[number]) = (records, before) }
            let (downloads, removals) = try await goingOn(records)
            waits.state.change { $0.records[number]?.formIntersection(downloads.union(removals)) }
            let isStopped: @Sendable (RecordWaits.State) -> Bool = { state in
                guard state.standstill.version >= version, let left = state.records[number] else { return false }
                return (state.standstill.stopsDownloads || left.isDisjoint(with: downloads))
                    && (state.standstill.stopsRemovals || left.isDisjoint(with: removals))
            }
            try await waits.state.waitUnlessCancelled {
                $0.records[number]?.isEmpty ?? true || isStopped($0) || $0.before[number] != before
            }
            let (isOver, now) = waits.state.with { state in
                (state.records[number]?.isEmpty ?? true, isStopped(state) ? state.standstill : nil)
            }
            if !isOver, let now {
                standstill = now
                break
            }
            // What waited a moment ago may go on again.
            let left = try await goingOn(records)
            if left.downloads.isEmpty, left.removals.isEmpty { break }
        }
        return try await LeftRecords(context: context).outcome(
            only: .these(records), hold: standstill.failure, lacksRoom: standstill.lacksRoom)
    }

    /// Returns the records that are in the journal and will go on within the longest wait of a drain.
    private func goingOn(
        _ records: Set<SyncRecordID>
    ) async throws -> (downloads: Set<SyncRecordID>, removals: Set<SyncRecordID>) {
        let limit = waitTime() + Self.longestDrainWait
        return try await database.read { reads in
            var (downloads, removals): (Set<SyncRecordID>, Set<SyncRecordID>) = ([], [])
            for record in try reads.goingOn(records, before: limit) {
                if record.action.kind.isRemoval { removals.insert(record.id) } else { downloads.insert(record.id) }
            }
            return (downloads, removals)
        }
    }

    /// Follows records while `body` runs.
    /// - Parameter records: The records; nil for all.
    /// - Returns: What `body` returns; those of the records that were taken back meanwhile: by a person, by an answer to an
    ///   issue, by a rule for conflicts, or because they build on a record that was; and the places of files that are
    ///   uploaded under another name, because both versions are kept.
    /// - Throws: What `body` throws.
    public func following<Result>(
        _ records: Set<SyncRecordID>?, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> (Result, takenBack: Set<SyncRecordID>, places: [SyncRecordID: ItemPath]) {
        let number = context.followed.begin(records)
        do {
            let result = try await body()
            let outcome = context.followed.end(number)
            return (result, outcome.takenBack, outcome.places)
        } catch {
            _ = context.followed.end(number)
            throw error
        }
    }
}
