import Database
public import Model
import Threads

/// The waits of tasks for records that the running engine works on.
final class RecordWaits: Sendable {
    struct State: Sendable {
        /// The records that a task waits for, by the number of the wait.
        var records: [Int: Set<SyncRecordID>] = [:]
        /// The records that must be done before these, by the number of the wait.
        var before: [Int: Set<SyncRecordID>] = [:]
        var last = 0
        var standstill = Standstill()
    }

    let state = Monitor(State())

    /// Notes records that have left the journal, or that wait for something now.
    func rest(_ records: [SyncRecordID]) {
        guard !records.isEmpty, state.with({ !$0.records.isEmpty }) else { return }
        state.change { state in
            for number in state.records.keys {
                state.records[number]?.subtract(records)
                state.before[number]?.subtract(records)
            }
        }
    }

    /// Notes what the engine cannot go on with.
    func stand(_ standstill: Standstill) {
        guard state.with({ !$0.records.isEmpty }) else { return }
        state.change { $0.standstill = standstill }
    }
}

/// The kinds of actions with which a running engine cannot go on for a while, and the reason.
struct Standstill: Sendable {
    /// The news that the engine knew when it came to this state, as ``Controls/State/version``.
    var version = 0
    var stopsDownloads = false
    var stopsRemovals = false
    /// The failure that holds up everything.
    var failure: Failure?
    /// Whether downloads wait for room.
    var lacksRoom = false
}

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
            let before = try await changes(before: records)
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
        return try await outcome(only: .these(records), hold: standstill.failure, lacksRoom: standstill.lacksRoom)
    }

    /// Returns the records that are in the journal and will go on within the longest wait of a drain.
    private func goingOn(
        _ records: Set<SyncRecordID>
    ) async throws -> (downloads: Set<SyncRecordID>, removals: Set<SyncRecordID>) {
        let limit = waitTime() + Self.longestDrainWait
        return try await database.read { [self] reads in
            var (downloads, removals): (Set<SyncRecordID>, Set<SyncRecordID>) = ([], [])
            for record in try goingOn(records, before: limit, in: reads) {
                if record.action.kind.isRemoval { removals.insert(record.id) } else { downloads.insert(record.id) }
            }
            return (downloads, removals)
        }
    }

    /// Returns the records that go on before a time. What is behind a record that does not go on does not go on either.
    private func goingOn(
        _ records: Set<SyncRecordID>, before limit: Timestamp, in reads: some DatabaseReads
    ) throws -> [SyncRecord] {
        let queue = try queue(of: records, in: reads)
        let hasChanges = queue.contains { $0.action.kind.changesServer }
        var lanes = Lanes()
        var held: Set<SyncRecordID> = []
        var going: [SyncRecord] = []
        for record in queue {
            // Without changes, records are about one item each.
            if hasChanges { lanes.add(record) }
            if !record.goesOn(before: limit) || !lanes.records(before: record.id).isDisjoint(with: held) {
                held.insert(record.id)
            } else if records.contains(record.id) {
                going.append(record)
            }
        }
        return going
    }
}

extension SyncRecord {
    /// Tells whether the engine goes on with the record before a time, as far as the record says.
    fileprivate func goesOn(before limit: Timestamp) -> Bool {
        guard state != .failed else { return false }
        return switch wait {
        case .place, .issue: false
        case .until(let time), .retry(let time, _): time <= limit
        case .newVersion, nil: true
        }
    }
}
