public import Model
import Synchronization

/// The records that commands follow, and those of them that were taken back meanwhile. A record that has left the journal
/// does not tell by itself whether it was done.
final class FollowedRecords: Sendable {
    private struct Follower {
        var records: Set<SyncRecordID>
        var takenBack: Set<SyncRecordID> = []
    }

    private let followers = Mutex<(last: Int, all: [Int: Follower])>((0, [:]))

    func begin(_ records: Set<SyncRecordID>) -> Int {
        followers.withLock { state in
            state.last += 1
            state.all[state.last] = Follower(records: records)
            return state.last
        }
    }

    /// Ends the following.
    /// - Returns: The records that were taken back.
    func end(_ number: Int) -> Set<SyncRecordID> {
        followers.withLock { $0.all.removeValue(forKey: number)?.takenBack ?? [] }
    }

    func noteTakenBack(_ record: SyncRecordID) {
        followers.withLock { state in
            for number in state.all.keys where state.all[number]?.records.contains(record) == true {
                state.all[number]?.takenBack.insert(record)
            }
        }
    }
}

extension SyncEngine {
    /// Follows records while `body` runs.
    /// - Returns: What `body` returns, and those of the records that were taken back meanwhile: by a person, by an answer
    ///   to an issue, by a rule for conflicts, or because they build on a record that was.
    /// - Throws: What `body` throws.
    public func following<Result>(
        _ records: Set<SyncRecordID>, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> (Result, takenBack: Set<SyncRecordID>) {
        let number = followed.begin(records)
        do {
            let result = try await body()
            return (result, followed.end(number))
        } catch {
            _ = followed.end(number)
            throw error
        }
    }
}
