import Database
import Logging
import Model

/// Changes that were asked for at another address of the account's. Another server may have other items at the same
/// paths, so that nothing is made there before a person decides.
struct OtherAddress: EnginePart {
    let context: ActionContext

    /// As ``SyncEngine/noteAddress(_:)``.
    func note(_ address: String) async throws -> Bool {
        try await database.write { [self] tx in
            let former = try tx.meta.text(.address)
            guard former != address else { return false }
            try tx.meta.set(.address, address)
            // What was stopped before, whether or not it goes on now, was not asked for at the former address.
            var others: Set<SyncRecordID> = []
            for issue in try tx.issues.all(code: IssueCode.address.rawValue) {
                others.formUnion(try tx.journal.waiting(forIssue: issue.id).map(\.id))
                guard issue.subject == address else { continue }
                try tx.issues.remove(id: issue.id)
                try tx.journal.endWaits(forIssue: issue.id)
            }
            guard let former else { return false }
            let changes = try tx.journal.changes(after: .none).filter { !others.contains($0.id) }
            try stop(changes, askedForAt: former, now: address, in: tx)
            return true
        }
    }

    private func stop(
        _ changes: [SyncRecord], askedForAt former: String, now address: String, in tx: Transaction
    ) throws {
        guard !changes.isEmpty else { return }
        let code = IssueCode.address
        let names = changes.prefix(3).map { "\($0.action.kind.rawValue) of \($0.path)" }.joined(separator: ", ")
        let message =
            "\(changes.count) \(changes.count == 1 ? "change was" : "changes were") asked for at \(former), and the "
            + "account's address is \(address) now (\(names)\(changes.count > 3 ? ", …" : "")). Nothing of this is made "
            + "before you decide; with the former address in the config it goes on"
        let issue = try tx.issues.file(
            Issue(code: code.rawValue, subject: former, message: message, choices: code.choices, created: clock.now()))
        for var record in changes {
            let earlier = record.wait?.issue
            record.wait = .issue(issue.id)
            try tx.journal.update(record)
            controls.suspend(record.id, cancels: false)
            guard let earlier, let asked = try tx.issues.issue(id: earlier) else { continue }
            if asked.record == record.id { try tx.issues.remove(id: earlier) }
            try context.records.endEmptyHold(earlier, in: tx)
        }
        logger.warning("\(message)")
    }

    /// Answers an issue about changes that were asked for at another address: has them made at this one, or takes them
    /// back, and keeps the files here that were to be uploaded.
    func answer(_ issue: Issue, isSameServer: Bool, in tx: Transaction) throws {
        try tx.issues.remove(id: issue.id)
        guard !isSameServer else { return try tx.journal.endWaits(forIssue: issue.id) }
        for record in try tx.journal.waiting(forIssue: issue.id).reversed() {
            // One that was taken back before may have taken this one along.
            guard let record = try tx.journal.record(id: record.id) else { continue }
            if record.action.kind == .upload {
                try context.takeBack.keepHere(record, .inPlace, in: tx)
            } else {
                try context.records.deschedule(record, in: tx)
            }
        }
        logger.notice("What was asked for at \(issue.subject) was taken back")
    }
}

extension MetaKey {
    /// The address at which the changes of the journal were asked for, if they do not wait for an answer about it.
    fileprivate static let address = MetaKey("address")
}
