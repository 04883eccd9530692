import Model
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
