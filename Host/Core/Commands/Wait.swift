import Database
import ItemPolicies
public import Model
import SyncEngine

/// Waits until the account, or everything below a path, is in sync: the server was asked, the processors have run, and
/// nothing is left to be done. What cannot go on now ends the wait too, and so does a pause of the account.
///
/// Nobody does the work of an account without a run, so the command is for an account at work.
/// - Throws: `.failed` if no run is in progress; the reason why the server cannot be used.
public struct Wait: AccountCommand {
    public static let name = "wait"

    /// The path of the file or folder; the root for everything.
    public var path: ItemPath

    /// Creates the command.
    public init(_ path: ItemPath = .root) { self.path = path }

    public func carryOut(for host: AccountHost) async throws(Failure) -> WaitOutcome {
        try await host.failing {
            try await host.work.turn {
                throw Failure.noRun
            } atWork: {
                let polled = try await host.poll(walks: true)
                var outcome = WaitOutcome()
                if let pause = host.pauseFailure { return try await stopped(by: pause, host) }
                if let unreached = polled.unreached { throw unreached }
                outcome.failures = polled.failures
                while true {
                    await host.policies.waitUntilIdle()
                    let records = try await records(in: host.database)
                    if records.isEmpty { break }
                    let left = try await host.engine.wait(for: records)
                    if left.isOffline {
                        if let pause = host.pauseFailure { return try await stopped(by: pause, host) }
                        throw left.failure ?? host.session.failure
                    }
                    if let failure = left.failure { outcome.failures.append(failure) }
                    // What waits for a person is named by its issue.
                    outcome.left = left.left.filter { $0.issue == nil }.map {
                        RunOutcome.Left(path: $0.path, why: $0.why)
                    }
                    outcome.leftCount = left.leftCount
                    if !left.isDone { break }
                }
                outcome.issues = try await issues(in: host.database)
                return outcome
            }
        }
    }

    /// Returns the outcome for an account that is paused: nobody knows what is new on the server, and what is left stays.
    private func stopped(by pause: Failure, _ host: AccountHost) async throws -> WaitOutcome {
        var outcome = WaitOutcome()
        outcome.failures = [pause]
        outcome.leftCount = try await records(in: host.database).count
        outcome.issues = try await issues(in: host.database)
        return outcome
    }

    private func isMeant(_ other: ItemPath) -> Bool { path.isRoot || other == path || path.isAncestor(of: other) }

    /// Tells whether a record is about a path: a place at or below the path, or something that comes to a folder above it or
    /// goes with one. A move and a copy are about two places.
    func isMeant(_ record: SyncRecord) -> Bool {
        let ends = [record.path] + (record.action.otherPath.map { [$0] } ?? [])
        return ends.contains(where: isMeant)
            || record.places.contains { !$0.change.isOfProperty && $0.path.isAncestor(of: path) }
    }

    private func records(in database: Database) async throws -> Set<SyncRecordID> {
        try await database.read { reads in
            var records: Set<SyncRecordID> = []
            try reads.journal.each { record in
                if isMeant(record) { records.insert(record.id) }
                return true
            }
            return records
        }
    }

    /// Returns the issues that keep something from being in sync. An issue that names no path counts for all paths.
    private func issues(in database: Database) async throws -> [Issue] {
        try await database.read { reads in
            try reads.issues.all().filter { issue in
                if let record = try issue.record.flatMap({ try reads.journal.record(id: $0) }) {
                    return isMeant(record)
                }
                return (try? ItemPath(issue.subject)).map(isMeant) ?? true
            }
        }
    }
}

/// What a wait came to. All is in sync if there is no failure, no issue and nothing left.
public struct WaitOutcome: Codable, Sendable {
    /// The errors, such as folders that could not be listed.
    public var failures: [Failure] = []
    /// The first hundred pieces of work that cannot go on now.
    public var left: [RunOutcome.Left] = []
    /// The number of all pieces of work that cannot go on now.
    public var leftCount = 0
    /// The issues that wait for a person.
    public var issues: [Issue] = []

    /// Creates the outcome of a wait that found everything in sync.
    public init() {}
}
