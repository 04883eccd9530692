public import Database
import LocalTree
public import Model

extension SyncEngine {
    /// Takes a record out of the journal, with what its preflight did and what was fetched for it.
    /// - Throws: `.notFound` without such a record; `.failed` if its file is being put in place at this moment.
    public func cancel(_ record: SyncRecordID) async throws {
        try await database.write { [self] tx in
            let journal = try journal(record, in: tx)
            guard journal.landing == nil else {
                throw Failure(.failed, "\(journal.path) is complete and is being put in place")
            }
            try deschedule(journal, in: tx)
        }
    }

    /// Lets a record go on at once that waits, and forgets how often it failed.
    /// - Throws: `.notFound` without such a record.
    public func retry(_ record: SyncRecordID) async throws {
        try await database.write { [self] tx in
            let journal = try journal(record, in: tx)
            // An issue that others wait with too is not answered by this.
            if case .issue(let id) = journal.wait, try tx.issues.issue(id: id)?.record == record {
                try tx.issues.remove(id: id)
            }
            try restart(journal, in: tx)
        }
        controls.update { $0.isReset = true }
    }

    /// Lets a record that waits for a time go on at once; one that waits for something else goes on waiting for that.
    /// - Returns: the issue that it waits for.
    /// - Throws: `.internal` if the record makes no sense, or SQLite's error; see ``DatabaseReads``.
    public func hurry(_ record: SyncRecordID, in tx: Transaction) throws -> Issue? {
        guard let journal = try tx.journal.record(id: record) else { return nil }
        switch journal.wait {
        case .until, .newVersion, .place: try restart(journal, in: tx)
        case .issue(let id): return try tx.issues.issue(id: id)
        case nil: break
        }
        return nil
    }

    /// Answers an issue that this engine filed.
    /// - Returns: false if it is another's.
    /// - Throws: `.notFound` without such an issue; `.badData` if the choice is none of the issue's.
    public func resolve(_ issue: IssueID, choice: String) async throws -> Bool {
        let isOurs = try await database.write { [self] tx in try resolve(issue, choice: choice, in: tx) }
        if isOurs { controls.update { $0.isReset = true } }
        return isOurs
    }

    /// Answers an issue in the caller's transaction, for several at once.
    /// - Returns: false if it is another's.
    /// - Throws: As ``resolve(_:choice:)``.
    public func resolve(_ id: IssueID, choice: String, in tx: Transaction) throws -> Bool {
        guard let issue = try tx.issues.issue(id: id) else {
            throw Failure(.notFound, "There is no issue \(id)", hint: "`larder issue list` shows all")
        }
        guard let code = IssueCode(rawValue: issue.code) else { return false }
        guard issue.choices.contains(where: { $0.id == choice }) else {
            throw Failure(
                .badData, "\(choice) is no choice of issue \(id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        try tx.issues.remove(id: id)
        guard let record = issue.record, var journal = try tx.journal.record(id: record) else { return true }
        switch (code, choice) {
        case (_, "retry"): try restart(journal, in: tx)
        case (.overwrite, "overwriteModifiedFile"):
            // What is there now may go; what it becomes after this may not.
            journal.overwrites = tree.mark(at: journal.path)
            try restart(journal, in: tx)
        default: try deschedule(journal, in: tx)
        }
        return true
    }

    private func journal(_ record: SyncRecordID, in tx: Transaction) throws -> SyncRecord {
        guard let journal = try tx.journal.record(id: record) else {
            throw Failure(.notFound, "There is no sync record \(record)", hint: "`larder sync list` shows all")
        }
        return journal
    }

    private func restart(_ journal: SyncRecord, in tx: Transaction) throws {
        var fresh = journal
        fresh.wait = nil
        fresh.attempts = 0
        fresh.rounds = 0
        try tx.journal.update(fresh)
        controls.suspend(journal.id, cancels: false)
    }
}
