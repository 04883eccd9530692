public import Database
import LocalTree
public import Model

extension SyncEngine {
    /// Takes a record out of the journal, and takes back what its preflight did and what was fetched for it. Of a change
    /// about which the server was asked, the request ends, and the record stays until the server has told what it has.
    /// - Throws: `.notFound` if there is no such record; `.failed` if the record's file is being put in place at this
    ///   moment.
    public func cancel(_ record: SyncRecordID) async throws {
        try await database.write { [self] tx in
            let journal = try journal(record, in: tx)
            guard journal.landing == nil else {
                throw Failure(.failed, "The download of \(journal.path) is complete and can no longer be cancelled")
            }
            let issue = try journal.wait?.issue.flatMap { try tx.issues.issue(id: $0) }
            // This server knows nothing of what was asked for at another address.
            guard !journal.isToBeAskedFor || issue?.code == IssueCode.address.rawValue else {
                return try context.records.end(journal, in: tx)
            }
            try context.records.deschedule(journal, in: tx)
            if let issue { try context.records.endEmptyHold(issue.id, in: tx) }
        }
        await context.snapshots.removeSpent()
    }

    /// Lets a waiting record go on at once, and forgets how often it failed.
    /// - Throws: `.notFound` if there is no such record; `.failed` if it waits for a person to approve it.
    public func retry(_ record: SyncRecordID) async throws {
        try await database.write { [self] tx in
            let journal = try journal(record, in: tx)
            if let id = journal.wait?.issue, let issue = try tx.issues.issue(id: id) {
                guard IssueCode(rawValue: issue.code)?.isAboutSeveral != true else {
                    throw Failure(
                        .failed,
                        "The action \(journal.action.kind.rawValue) of \(journal.path) waits for an answer to issue \(id)",
                        hint: .listIssues)
                }
                // An issue for which other records wait too is not answered by this call.
                if issue.record == record { try tx.issues.remove(id: id) }
            }
            try context.records.tryAgain(journal, in: tx)
        }
        controls.update { $0.isReset = true }
    }

    /// Lets a record that waits for a time, a next try, a new version or its place go on at once. A record that waits
    /// for an answer to an issue goes on waiting.
    /// - Returns: The issue for which the record waits.
    /// - Throws: `.internal` if the record makes no sense, or SQLite's error; see ``DatabaseReads``.
    public func hurry(_ record: SyncRecordID, in tx: Transaction) throws -> Issue? {
        guard let journal = try tx.journal.record(id: record) else { return nil }
        switch journal.wait {
        case .until, .newVersion, .place, .retry: try context.records.restart(journal, in: tx)
        case .issue(let id): return try tx.issues.issue(id: id)
        case nil: break
        }
        return nil
    }

    /// Answers an issue that the sync engine filed.
    /// - Returns: Whether the sync engine filed the issue. False means that nothing was done.
    /// - Throws: `.notFound` if there is no such issue; `.badData` if the issue does not offer the choice.
    public func resolve(_ issue: IssueID, choice: String) async throws -> Bool {
        let found = try await context.snapshots.found(of: issue, choice: choice)
        let isOurs = try await database.write { [self] tx in try resolve(issue, choice: choice, found, in: tx) }
        if isOurs { controls.update { $0.isReset = true } }
        await context.snapshots.removeSpent()
        return isOurs
    }

    /// Answers an issue in the caller's transaction, so that one transaction can answer several issues.
    /// - Returns: Whether the sync engine filed the issue. False means that nothing was done.
    /// - Throws: As ``resolve(_:choice:)``.
    public func resolve(_ id: IssueID, choice: String, in tx: Transaction) throws -> Bool {
        try resolve(id, choice: choice, nil, in: tx)
    }

    private func resolve(
        _ id: IssueID, choice: String, _ found: TakenSnapshot?, in tx: Transaction
    ) throws -> Bool {
        guard let issue = try tx.issues.issue(id: id) else {
            throw Failure(.notFound, "There is no issue \(id)", hint: .listIssues)
        }
        guard let code = IssueCode(rawValue: issue.code) else { return false }
        guard issue.choices.contains(where: { $0.id == choice }) else {
            throw Failure(
                .badData, "\(choice) is not a choice of issue \(id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        switch code {
        case .pluginDeletions:
            try context.deletions.answer(issue, isApproved: choice == "approve", in: tx)
            return true
        case .address:
            try OtherAddress(context: context).answer(issue, isSameServer: choice == "continue", in: tx)
            return true
        case .found:
            try context.snapshots.answer(issue, choice, found, in: tx)
            return true
        default: break
        }
        try tx.issues.remove(id: id)
        guard let record = issue.record, var journal = try tx.journal.record(id: record) else { return true }
        switch (code, choice) {
        case (_, "retry"): try context.records.tryAgain(journal, in: tx)
        case (.upload, "keep"): try context.takeBack.keepHere(journal, .inPlace, in: tx)
        case (.conflict, "keep"): try context.takeBack.keepHere(journal, .beside, in: tx)
        case (.overwrite, "overwriteModifiedFile"):
            // The content that is there now may be replaced. Later changes of the file may not.
            journal.overwrites = tree.mark(at: journal.path)
            try context.records.restart(journal, in: tx)
        case (.conflict, "keepBoth"): try UploadAction(context).keepBoth(journal, in: tx)
        case (.conflict, "replace"):
            try UploadAction(context).replaceSeenVersion(&journal, in: tx)
            try context.records.restart(journal, in: tx)
        case (.deletion, "force"):
            journal.action = .delete(isForced: true)
            try context.records.restart(journal, in: tx)
        case _ where journal.isToBeAskedFor: try context.records.end(journal, in: tx)
        default: try context.records.deschedule(journal, in: tx)
        }
        return true
    }

    private func journal(_ record: SyncRecordID, in tx: Transaction) throws -> SyncRecord {
        guard let journal = try tx.journal.record(id: record) else {
            throw Failure(.notFound, "There is no sync record \(record)", hint: .listSyncRecords)
        }
        return journal
    }
}
