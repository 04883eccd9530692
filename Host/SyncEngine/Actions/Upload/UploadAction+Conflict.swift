import Database
import LocalTree
import Logging
import Model

/// The ways out of a conflict: what a person's answer, or the account's rules, do with an upload that met another version.
extension UploadAction {
    /// Lets an upload replace the version about which a person, or a rule, was asked. Later uploads of the file that
    /// were to follow the same version as this one follow it.
    func replaceSeenVersion(_ record: inout SyncRecord, in tx: Transaction) throws {
        // Without a version, which an older program did not note, the upload asks again.
        guard case .upload(var upload) = record.action, let asked = record.evidence.asked else { return }
        let former = upload.base
        (upload.base, upload.followsNothing) = (asked.etag, asked.etag == nil)
        if let begun = upload.begun.take() { context.snapshots.spend(begun) }
        record.action = .upload(upload)
        record.mayHaveArrived = false
        record.evidence = ChangeEvidence()
        guard let base = asked.etag, let former else { return }
        try context.records.passOn(base, from: former, after: record, in: tx)
    }

    /// Keeps both versions: the file is uploaded under another name, as a new one. What was queued behind it goes on at
    /// the new place.
    /// - Returns: The record, with the new path.
    /// - Throws: `.badData` if there is no other name.
    @discardableResult
    func keepBoth(_ record: SyncRecord, in tx: Transaction) throws -> SyncRecord {
        guard case .upload(var upload) = record.action, let found = try tx.items.item(localID: record.localID) else {
            return record
        }
        let wasNew = upload.isNew
        if let begun = upload.begun.take() { context.snapshots.spend(begun) }
        (upload.isNew, upload.base, upload.followsNothing) = (true, nil, false)
        // The person's file is still a copy of what it was copied from, and not of what it is uploaded as.
        upload.source = nil
        var moved = record
        moved.action = .upload(upload)
        (moved.state, moved.wait, moved.attempts, moved.mayHaveArrived) = (.ready, nil, 0, false)
        moved.evidence = ChangeEvidence()
        controls.suspend(record.id, cancels: false)
        guard !wasNew else {
            moved.path = try context.takeBack.freeName(beside: record.path, in: tx)
            let displacement = QueueRewrite.Displacement(from: record.path, to: moved.path, item: record.localID)
            try context.takeBack.rewriteQueue(behind: record, displacement, in: tx)
            try tx.journal.replace(moved)
            context.followed.note(record.id, at: moved.path)
            // What is at the path now is the server's.
            try tx.scan.requestListing(of: record.path.parent)
            return moved
        }
        let outdated = try endUpload(of: found, in: tx)
        moved.path = try context.takeBack.freeName(beside: found.path, in: tx)
        moved.localID = try tx.items.insertPlaceholder(
            moved.path, kind: .file, size: upload.size, modified: upload.modified, activity: Self.activity
        ).localID
        context.followed.note(record.id, at: moved.path)
        if found.path == record.path {
            try tx.journal.replace(moved)
        } else {
            // The folder, or the name beside which the file goes, is there behind the moves that were queued since.
            try tx.journal.delete(id: record.id)
            context.records.forget(record.id)
            moved = try tx.journal.insert(moved)
        }
        if let outdated,
            try tx.journal.records(of: outdated.localID).allSatisfy({ !$0.action.kind.isRemoval })
        {
            try tx.scan.requestListing(of: outdated.path.parent)
            let reason = outdated.downloadTrigger ?? .user
            _ = try context.intake.enqueue(
                .action(ActionRequest(.download, item: outdated.localID, reason: reason)), in: tx)
        }
        return moved
    }

    /// Ends what an item shows of the upload of a new version.
    /// - Returns: The item, if a copy of it is here: it is of a version before the server's, whether or not that one is
    ///   listed yet.
    private func endUpload(of found: Item, in tx: Transaction) throws -> Item? {
        var item = found
        item.syncActivity.remove(Self.activity)
        let isOutdated = item.cloudStatus == .localCopy
        if isOutdated { item.copy?.etag = .substitute(size: nil, lastModified: nil) }
        try tx.items.updateLocal(item)
        return isOutdated ? item : nil
    }

    /// Does with an upload that met another version what the account's rules say. If something of it may have arrived,
    /// what is there may have come after it, and no rule replaces it.
    func answerConflict(
        _ job: Job, _ record: SyncRecord, isSure: Bool, in tx: Transaction
    ) throws -> RecordOutcome? {
        switch context.onConflict.answer(for: record.path) {
        case .ask: return nil
        case .local where !isSure: return nil
        case .local:
            var record = record
            try replaceSeenVersion(&record, in: tx)
            try tx.journal.update(record)
            controls.suspend(record.id, cancels: false)
            logger.notice(
                "\(record.path) has changed on the server, and is replaced by the upload: on-conflict is local")
        case .keepBoth:
            guard try !context.queue.isBuiltOn(record, in: tx) else { return nil }
            let moved: SyncRecord
            // Where no other name can be made, a person decides.
            do { moved = try keepBoth(record, in: tx) } catch let failure as Failure where failure.kind == .badData {
                return nil
            }
            logger.notice("\(record.path) has changed on the server, and the upload goes to \(moved.path)")
        case .server:
            guard try !context.queue.isBuiltOn(record, in: tx) else { return nil }
            try context.records.deschedule(record, in: tx)
            try tx.scan.requestListing(of: record.path.parent)
            logger.notice("\(record.path) has changed on the server, and the upload is given up: on-conflict is server")
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        return RecordOutcome(record: job.id, resolution: .stale)
    }
}
