import Logging
import Model
import Storage

/// Why the tree did not take a file.
enum Refusal: Sendable {
    /// There is content that the server is not known to have.
    case modified
    /// A program has it open.
    case inUse
    case obstructed(Obstruction)
    case disk(Failure)
}

extension SyncEngine {
    /// Writes down what follows from the tree's refusal to take a download.
    func settle(_ job: Job, _ refusal: Refusal, in tx: Transaction) throws -> Settlement {
        switch refusal {
        case .modified: return try refuseModified(job, in: tx)
        case .inUse:
            let failure = Failure(
                .failed, "\(job.path) is open in another program and was not replaced", hint: "It is tried again")
            let verdict = Verdict.wait(until: clock.now() + Self.inUsePatience, attempts: job.record.attempts)
            return try settle(job, verdict, because: failure, in: tx)
        case .obstructed(let obstruction):
            tree.abandonIncoming(job.incomingName)
            return try settle(job, .ask(.place), because: inTheWay(obstruction, of: job.path), in: tx)
        case .disk(let failure):
            let verdict = Verdict.wait(until: clock.now() + Self.inUsePatience, attempts: job.record.attempts)
            return try settle(job, verdict, because: failure, in: tx)
        }
    }

    func inTheWay(_ obstruction: Obstruction, of path: ItemPath) -> Failure {
        Failure(
            .cannotCreate, "\(path) cannot be kept here: \(obstruction.text) is in its way",
            hint: "Look at \(tree.localPath(of: path))")
    }

    /// A file was changed here since the download was asked for: a person is asked, a plugin is refused.
    private func refuseModified(_ job: Job, in tx: Transaction) throws -> Settlement {
        let failure = Failure(.failed, "\(job.path) was changed here; a download would replace the change")
        tree.abandonIncoming(job.incomingName)
        guard let journal = try tx.syncRecord(id: job.id) else { return Settlement(record: job.id, fate: .ended) }
        if var item = try tx.item(localID: journal.record.localID), item.cloudStatus != .locallyModified {
            item.cloudStatus = .locallyModified
            try tx.updateLocal(item)
        }
        guard journal.record.reason == .user else {
            logger.notice("\(failure.message)")
            try deschedule(journal, in: tx)
            return Settlement(record: job.id, fate: .ended, failure: failure)
        }
        return try settle(job, .ask(.overwrite), because: failure, in: tx)
    }
}
