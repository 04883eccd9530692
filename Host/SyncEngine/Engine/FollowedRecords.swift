import Model
import Synchronization

/// The records that commands follow, and those of them that were taken back meanwhile, or have another place. A record
/// that has left the journal does not tell by itself whether it was done.
final class FollowedRecords: Sendable {
    private struct Follower {
        /// The records; nil for all.
        var records: Set<SyncRecordID>?
        var outcome = Outcome()

        func follows(_ record: SyncRecordID) -> Bool { records?.contains(record) ?? true }
    }

    /// What became of followed records.
    struct Outcome {
        var takenBack: Set<SyncRecordID> = []
        var places: [SyncRecordID: ItemPath] = [:]
    }

    private let followers = Mutex<(last: Int, all: [Int: Follower])>((0, [:]))

    func begin(_ records: Set<SyncRecordID>?) -> Int {
        followers.withLock { state in
            state.last += 1
            state.all[state.last] = Follower(records: records)
            return state.last
        }
    }

    /// Ends the following.
    func end(_ number: Int) -> Outcome {
        followers.withLock { $0.all.removeValue(forKey: number)?.outcome ?? Outcome() }
    }

    func noteTakenBack(_ record: SyncRecordID) { note(record) { $0.takenBack.insert(record) } }

    /// Notes that the file of an upload goes to another place than asked for.
    func note(_ record: SyncRecordID, at place: ItemPath) { note(record) { $0.places[record] = place } }

    private func note(_ record: SyncRecordID, _ change: (inout Outcome) -> Void) {
        followers.withLock { state in
            for number in state.all.keys where state.all[number]?.follows(record) == true {
                if var outcome = state.all[number]?.outcome {
                    change(&outcome)
                    state.all[number]?.outcome = outcome
                }
            }
        }
    }
}
