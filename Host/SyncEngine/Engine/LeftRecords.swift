import Database
import Model
import Synchronization

/// The description of the records that a run has left.
struct LeftRecords: EnginePart {
    let context: ActionContext

    /// Reads which records are left in the journal, and why.
    /// - Parameters:
    ///   - only: The records to describe.
    ///   - hold: The failure that holds up everything.
    ///   - lacksRoom: Whether downloads wait for room.
    func outcome(only: RecordSelection, hold: Failure?, lacksRoom: Bool) async throws -> DrainOutcome {
        let (reasons, isOnline) = (context.reasons.withLock { $0 }, controls.isOnline)
        let noRoom = hold == nil && isOnline && lacksRoom ? context.gauge.noRoom : nil
        return try await database.read { reads in
            var outcome = DrainOutcome()
            outcome.failure = hold
            outcome.isOffline = !isOnline
            // A drain may follow each commit of a long pass. The journal is therefore read no further than the outcome
            // describes it.
            outcome.leftCount = try reads.journal.count()
            if outcome.leftCount > 0 {
                switch only {
                case .all: break
                case .these(let records, _):
                    outcome.leftCount = try records.count { try reads.journal.record(id: $0) != nil }
                case .after(let last): outcome.leftCount = try reads.journal.count(after: last)
                }
            }
            try reads.journal.each { journal in
                guard only.reports(journal.id) else { return true }
                // What else could go on has gone on when a run is over.
                let waitsForRoom = noRoom != nil && journal.action == .download && journal.wait == nil
                var failure = waitsForRoom ? noRoom : reasons[journal.id] ?? hold
                var issue: Model.Issue?
                if let id = journal.wait?.issue { issue = try reads.issues.issue(id: id) }
                if let issue { failure = Failure(issue.failure, issue.message) }
                let why =
                    try failure?.message
                    ?? (isOnline ? journal.whyItWaits(reads) : "The server is not connected")
                outcome.left.append(
                    .init(
                        record: journal.id, path: journal.path, why: why,
                        failure: failure?.kind ?? (isOnline ? .failed : .unreachable), issue: issue?.id,
                        waitsForRoom: waitsForRoom))
                return outcome.left.count < DrainOutcome.mostNamed
            }
            return outcome
        }
    }
}

extension SyncRecord {
    /// Returns the reason why the record waits, for a wait that began in an earlier run.
    fileprivate func whyItWaits(_ reads: ReadTransaction) throws -> String {
        switch wait {
        case .until(let time) where evidence.isCancelled == true:
            return "The action is being cancelled; the server is asked once more at \(time)"
        case .until(let time), .retry(let time, _): return "The last try failed; the next try is at \(time)"
        case .place: return "An old copy is in its place until vacuum removes it"
        case .newVersion, .issue, nil:
            let changes = try ([path] + (action.otherPath.map { [$0] } ?? [])).flatMap {
                try reads.journal.changes(atOrBelow: $0) + reads.journal.changes(above: $0)
            }
            guard let first = changes.filter({ $0.id < id }).min(by: { $0.id < $1.id }) else {
                return "The action waits"
            }
            let issue = first.wait?.issue.map { ", and waits for an answer to issue \($0)" } ?? ""
            return "The action waits for record \(first.id), which comes before it (\(first.action.kind.rawValue) of "
                + "\(first.path)\(issue))"
        }
    }
}
