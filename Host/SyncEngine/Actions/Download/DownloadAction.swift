import Database
import LocalTree
import Logging
import Model

/// The action that fetches the server's newest version of an item.
struct DownloadAction: SyncAction {
    static let budget = Window.Budget.downloads

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> EnqueueOutcome {
        guard request.isUpdate else { return try begin(request, of: item, in: tx) }
        guard item.kind == .file, item.cloudStatus == .localCopy, item.remoteVersion == .newer, !item.isRemoved
        else { return .done }
        var update = request
        update.reason = item.downloadTrigger ?? request.reason
        return try begin(update, of: item, in: tx)
    }

    private func begin(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> EnqueueOutcome {
        if item.isRemoved {
            return .refused(Failure(.notFound, "\(item.path) is no longer on the server"))
        }
        if item.kind == .folder { return try keepFolder(item, request, in: tx) }
        let records = try tx.journal.records(of: item.localID)
        // A download replaces a removal: the requester has changed their mind, or another requester wants the copy now.
        for removal in records where removal.action.kind.isRemoval { try context.records.deschedule(removal, in: tx) }
        let earlier = records.first { $0.action.kind == .download }
        switch item.cloudStatus {
        case .localOnly:
            return .refused(Failure(.failed, "\(item.path) exists only here: there is nothing to download"))
        case .locallyModified where request.isProof && earlier == nil: break
        case .locallyModified where request.reason != .user:
            return .refused(Failure(.failed, "\(item.path) was changed here: a download does not replace the change"))
        case .locallyModified where earlier == nil: return try askToOverwrite(item, request, in: tx)
        case .localCopy where item.remoteVersion == .current:
            return try adopt(item, for: request.reason, in: tx)
        case .locallyModified, .localCopy, .cloudOnly: break
        }
        if let claim = try context.copies.claimForWriting(of: item, in: tx) {
            guard request.reason != .user else { return .refused(notReplaced(item.path, claim)) }
            context.copies.passOver(item, claim, request.action.recorded, for: request.reason)
            return .done
        }
        if let earlier { return try join(earlier, item, request, in: tx) }
        var item = item
        item.syncActivity.insert(.downloading)
        try tx.items.updateLocal(item)
        let record = try context.records.record(request, of: item, in: tx)
        counters.expect(files: 1, bytes: item.size ?? 0)
        return .queued(record.id)
    }

    /// Makes a folder at once, since there is nothing to fetch. The request waits only if the folder's place is held.
    private func keepFolder(_ item: Item, _ request: ActionRequest, in tx: Transaction) throws -> EnqueueOutcome {
        guard let place = try context.places.held(of: item, in: tx) else {
            return try keepFolder(item, for: request.reason, in: tx)
        }
        if let earlier = try tx.journal.records(of: item.localID).first { return .joined(earlier.id) }
        let waiting = try context.records.record(request, of: item, in: tx)
        try context.places.wait(waiting, for: place, in: tx)
        return .queued(waiting.id)
    }

    /// Makes a folder whose place is not held.
    func keepFolder(_ item: Item, for reason: DownloadTrigger, in tx: Transaction) throws -> EnqueueOutcome {
        do {
            if case .obstructed(let obstruction) = try tree.makeFolder(item.path) {
                let failure = inTheWay(obstruction, of: item.path)
                try tx.issues.file(
                    Issue(
                        code: IssueCode.place.rawValue, subject: item.path.text, message: failure.message,
                        choices: [IssueCode.dismissal], created: clock.now(), failure: failure.kind))
                return .refused(failure)
            }
        } catch let failure as Failure where failure.kind == .localIO {
            return .refused(failure)
        }
        try tx.issues.remove(code: IssueCode.place.rawValue, subject: item.path.text)
        var kept = item
        kept.cloudStatus = .localCopy
        kept.take(reason)
        if kept != item { try tx.items.updateLocal(kept) }
        return .done
    }

    /// Adopts a copy that already is the newest version: only its trigger changes.
    ///
    /// A copy that another plugin brought stays that plugin's, so that two plugins that want the same item do not take it
    /// from each other for ever. Only what a person pins is taken over from a plugin.
    private func adopt(_ item: Item, for reason: DownloadTrigger, in tx: Transaction) throws -> EnqueueOutcome {
        let holder = item.downloadTrigger ?? .user
        guard [holder, .user, .availableOffline].contains(reason) || holder == .user else { return .done }
        var adopted = item
        adopted.take(reason)
        if reason == .user { adopted.lastUsed = clock.now() }
        if adopted != item { try tx.items.updateLocal(adopted) }
        return .done
    }

    /// Joins a download that is under way. One download serves both requesters. The copy will belong to the new
    /// requester, and to the earlier one again when the new requester lets it go.
    func join(
        _ earlier: SyncRecord, _ item: Item, _ request: ActionRequest, in tx: Transaction
    ) throws -> EnqueueOutcome {
        guard earlier.reason != request.reason else { return .joined(earlier.id) }
        var joined = item
        if joined.formerTrigger == nil {
            joined.formerTrigger = request.reason == .user ? .user : earlier.reason
        }
        if joined != item { try tx.items.updateLocal(joined) }
        var record = earlier
        // A download that another requester wants too is not dropped when one requester's policies end. The download of
        // a first copy that a person wants too then goes on as the person's.
        record.whileCovered =
            switch (item.cloudStatus, request.reason, earlier.reason) {
            case (.cloudOnly, .user, _): earlier.whileCovered
            case (.cloudOnly, _, .user): request.whileCovered
            default: earlier.whileCovered && request.whileCovered
            }
        if request.reason != .user {
            record.reason = request.reason
            record.key = request.key
        }
        if record != earlier {
            try tx.journal.update(record)
            controls.suspend(record.id, cancels: false)
        }
        return .joined(earlier.id)
    }

    private func askToOverwrite(
        _ item: Item, _ request: ActionRequest, in tx: Transaction
    ) throws -> EnqueueOutcome {
        var record = try context.records.record(request, of: item, in: tx)
        let issue = try tx.issues.file(
            Issue(
                record: record.id, code: IssueCode.overwrite.rawValue, subject: item.path.text,
                message: "\(item.path) was changed here; a download would replace the change",
                choices: IssueCode.overwrite.choices, created: clock.now()))
        record.wait = .issue(issue.id)
        try tx.journal.update(record)
        return .waits(record: record.id, issue: issue.id)
    }
}

extension Item {
    /// Makes the copy that of a requester, and remembers the previous one. If a person requests a copy that a plugin
    /// keeps, the copy stays the plugin's, and becomes the person's when the plugin lets it go.
    mutating func take(_ trigger: DownloadTrigger) {
        guard let current = downloadTrigger, current != trigger else {
            downloadTrigger = trigger
            return
        }
        if formerTrigger == nil { formerTrigger = trigger == .user ? .user : current }
        if trigger != .user { downloadTrigger = trigger }
    }
}
