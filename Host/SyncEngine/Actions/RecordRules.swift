import Database
import Logging
import Model
import Synchronization

/// How records come into the journal, change, and leave it, with what they have shown of their items.
struct RecordRules: EnginePart {
    let context: ActionContext

    // MARK: New records

    /// Writes a new record that may go on at once.
    func record(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> SyncRecord {
        try tx.journal.insert(
            SyncRecord(
                action: request.action.recorded, state: .ready, localID: item.localID, path: item.path,
                reason: request.reason,
                key: request.key, since: clock.now(), whileCovered: request.whileCovered))
    }

    /// Writes a record of a change.
    func record(
        _ action: SyncRecord.Action, of item: Item, at path: ItemPath, for requester: ChangeRequester,
        in tx: Transaction
    ) throws -> SyncRecord {
        try tx.journal.insert(
            SyncRecord(
                action: action, state: .ready, localID: item.localID, path: path, reason: requester.reason,
                key: requester.key, since: clock.now(), wait: requester.issue.map(WaitCondition.issue)))
    }

    // MARK: Records under way

    /// Marks a record as sent, before its first request.
    /// - Returns: The record as it was before; nil if it must not be started.
    func begin(_ job: Job, in tx: Transaction) throws -> SyncRecord? {
        guard let record = try tx.journal.record(id: job.id), record.wait == nil,
            controls.with({ !$0.suspended.contains(job.id) })
        else { return nil }
        if record.state != .processing || !record.mayHaveArrived { try tx.journal.markSent(record.id) }
        return record
    }

    /// Marks the records of uploads as sent, before their first requests.
    /// - Returns: The records as they were before, in the order of the jobs; nil for one that must not be started.
    func begin(_ uploads: [Job], in tx: Transaction) throws -> [SyncRecord?] {
        let suspended = controls.with { [ids = uploads.map(\.id)] state in ids.filter(state.suspended.contains) }
        let marked = try tx.journal.markSent(uploads.map(\.id).filter { !suspended.contains($0) })
        return uploads.map { marked[$0.id] }
    }

    /// Lets the later uploads of an item follow the version that a change has made of the version that they were to
    /// follow. Whatever else comes between them is somebody else's, and stays.
    /// - Parameters:
    ///   - made: The version that the server has since the change; nil if it is not known.
    ///   - base: The version before the change; nil if there was none.
    ///   - records: The item's records; nil if they are to be read.
    func passOn(
        _ made: ETag?, from base: ETag?, after record: SyncRecord, among records: [SyncRecord]? = nil,
        in tx: Transaction
    ) throws {
        guard let made else { return }
        for var later in try records ?? tx.journal.records(of: record.localID) where later.id > record.id {
            guard case .upload(var upload) = later.action, !upload.isNew, upload.base == base else { continue }
            upload.base = made
            later.action = .upload(upload)
            try tx.journal.update(later)
        }
    }

    /// Lets a record that waits go on at once. Of a refused move or copy nobody knows whether the server has made it all
    /// the same: it looks first. What was taken and does not show for long is sent again.
    func tryAgain(_ journal: SyncRecord, in tx: Transaction) throws {
        var again = journal
        if again.evidence.wasTaken == true, case .upload(var upload) = again.action {
            // What the server has taken has become no file: it is sent from its beginning.
            if let begun = upload.begun.take() { context.snapshots.spend(begun) }
            again.action = .upload(upload)
        }
        (again.evidence.observation, again.evidence.wasTaken, again.evidence.isCancelled) = (nil, nil, nil)
        if case .issue = journal.wait, journal.action.otherPath != nil { again.mayHaveArrived = true }
        try restart(again, in: tx)
    }

    func restart(_ journal: SyncRecord, in tx: Transaction) throws {
        var fresh = journal
        fresh.wait = nil
        fresh.attempts = 0
        fresh.rounds = 0
        try tx.journal.update(fresh)
        controls.suspend(journal.id, cancels: false)
    }

    // MARK: The end

    func done(_ journal: SyncRecord, in tx: Transaction) throws -> RecordOutcome {
        try tx.journal.delete(id: journal.id)
        return RecordOutcome(record: journal.id, resolution: .ended)
    }

    /// Takes a record out of the journal and takes back what its preflight did: the item's marks and the bytes fetched
    /// so far. Ends a request that is under way for the record.
    func deschedule(_ record: SyncRecord, in tx: Transaction) throws {
        try remove(record, in: tx)
        guard let item = try tx.items.item(localID: record.localID) else { return }
        try context.action(record.action.kind).takeBack(record, of: item, in: tx)
    }

    /// Takes a record out of the journal, and ends a request that is under way for it. What it has shown of its item
    /// stays.
    func remove(_ record: SyncRecord, in tx: Transaction) throws {
        controls.suspend(record.id, cancels: true)
        try tx.journal.delete(id: record.id)
        context.followed.noteTakenBack(record.id)
        forget(record.id)
        // Listings left out what the record was about to change.
        for place in record.places { try tx.scan.requestListing(of: place.path.parent) }
        if record.action.kind.changesServer { tx.noteFoldersLeft() }
    }

    /// Forgets what is kept of a record besides the journal.
    func forget(_ record: SyncRecordID) {
        context.reasons.withLock { $0[record] = nil }
        context.notTaken.withLock { $0[record] = nil }
    }

    /// Ends a download for its requester. If another requester joined the download, the download goes on for that
    /// requester.
    /// - Returns: The record that goes on, or nil if no record goes on.
    func letGo(_ download: SyncRecord, of item: inout Item, in tx: Transaction) throws -> SyncRecord? {
        guard item.cloudStatus == .cloudOnly, let former = item.formerTrigger else {
            try deschedule(download, in: tx)
            item = try tx.items.item(localID: item.localID) ?? item
            return nil
        }
        var record = download
        record.reason = former
        record.key = nil
        record.whileCovered = false
        try tx.journal.update(record)
        controls.suspend(record.id, cancels: false)
        item.formerTrigger = nil
        item = try tx.items.updateLocal(item)
        return record
    }

    /// Cancels a change of which a request may have reached the server.
    func end(_ record: SyncRecord, in tx: Transaction) throws {
        var ended = record
        ended.evidence.isCancelled = true
        (ended.wait, ended.attempts) = (nil, 0)
        try tx.journal.update(ended)
        if let id = record.wait?.issue, try tx.issues.issue(id: id)?.record == record.id {
            try tx.issues.remove(id: id)
        }
        let end: (@Sendable () -> Void)? = controls.with { state in
            state.endedChanges.insert(record.id)
            return state.changeEnders[record.id]
        }
        end?()
        controls.suspend(record.id, cancels: false)
        logger.notice(
            """
            The action \(record.action.kind.rawValue) of \(record.path) is being cancelled: the server is asked what it has \
            made of it
            """)
    }

    /// Removes an issue for which several records may wait, if none waits for it any more.
    func endEmptyHold(_ id: IssueID, in tx: Transaction) throws {
        guard let issue = try tx.issues.issue(id: id), IssueCode(rawValue: issue.code)?.isAboutSeveral == true,
            try tx.journal.waiting(forIssue: id).isEmpty
        else { return }
        try tx.issues.remove(id: id)
    }
}
