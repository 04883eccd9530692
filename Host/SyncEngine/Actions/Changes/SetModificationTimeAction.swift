import Connection
import Database
import LocalTree
import Model
import Threads

/// The action that changes the modification time of a file. Only servers of the ownCloud family let a client do so.
///
/// The server gives the file another ETag with the time. The copy here stays the copy of it, and gets the time too.
struct SetModificationTimeAction: RecordedChange {
    static let activity = SyncActivity.updating

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(
        _ path: ItemPath, _ time: Timestamp, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        var item: Item
        switch try context.queue.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = found
        }
        guard item.kind == .file else {
            return .refused(
                Failure(
                    .badData, "\(path) is a folder, which gets its modification time from the server",
                    hint: "Name a file"))
        }
        if let failure = Right.write.missing(to: item) { return .refused(failure) }
        let time = Timestamp(seconds: time.seconds)
        var earlier = try lastChange(of: item, in: tx)
        if let waiting = earlier, case .setModificationTime = waiting.action, !waiting.mayHaveArrived,
            waiting.wait != nil
        {
            // Nobody needs to decide about a time that a newer one follows.
            try context.records.deschedule(waiting, in: tx)
            item = try tx.items.item(localID: item.localID) ?? item
            earlier = try lastChange(of: item, in: tx)
        }
        let former = item.lastModified
        if earlier == nil, former == time { return .done }
        if case .setModificationTime(time, _)? = earlier?.action, let earlier { return .joined(earlier.id) }
        (item.lastModified, item.syncActivity) = (time, item.syncActivity.union(Self.activity))
        item = try tx.items.update(item)
        if var earlier, case .setModificationTime(_, let former) = earlier.action, !earlier.mayHaveArrived {
            earlier.action = .setModificationTime(time, former: former)
            (earlier.since, earlier.reason, earlier.key) = (clock.now(), requester.reason, requester.key)
            try tx.journal.update(earlier)
            controls.suspend(earlier.id, cancels: false)
            return .queued(earlier.id)
        }
        let action = SyncRecord.Action.setModificationTime(time, former: former)
        return .queued(try context.records.record(action, of: item, at: path, for: requester, in: tx).id)
    }

    private func lastChange(of item: Item, in tx: Transaction) throws -> SyncRecord? {
        try tx.journal.records(of: item.localID).last { $0.action.kind.changesServer }
    }

    // MARK: The request

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        guard case .setModificationTime(let time, _) = job.record.action else {
            throw Failure(.internal, "\(job.record.action.kind.rawValue) does not change a modification time")
        }
        let path = job.record.path
        let request = WriteRequest.setModificationTime(path)
        let base = try await database.read { try $0.items.item(localID: job.record.localID)?.etag }
        // Not every server of the family heeds a condition of this request.
        guard let before = try await server.held(at: path), before.item.kind == .file else {
            return .refused(WriteRefusal.notFound.failure(of: request), .change)
        }
        if before.isFile(of: time), mayHaveArrived || before.item.etag == base { return .done(before.item) }
        guard base == nil || before.item.etag == base else {
            return .refused(WriteRefusal.versionChanged.failure(of: request), .change)
        }
        switch try await server.setModificationTime(path, time, version: base) {
        case .refused(let refusal): return result(refusal, of: request)
        // What the file shows decides in any case.
        case .done, .unclear: break
        }
        let found = try await afterChange { try await server.held(at: path) }
        guard let held = found, held.item.kind == .file else {
            return .refused(WriteRefusal.notFound.failure(of: request), .change)
        }
        guard held.isFile(of: time) else {
            return .refused(
                Failure(
                    .failed, "the server took the modification time of \(path), and shows another one all the same",
                    hint: "Check whether the server, and the storage behind it, lets files be dated"), .change)
        }
        return .done(held.item, copy: try await dateCopy(of: job.record.localID, time, from: base, to: held))
    }

    /// Gives the copy the time, if it is the copy of the version that the server has dated.
    /// - Parameters:
    ///   - base: The version whose time was changed. The server had it just before.
    ///   - held: What the server holds now. Its date says that nobody has changed the file since.
    private func dateCopy(
        of id: LocalID, _ time: Timestamp, from base: ETag?, to held: HeldItem
    ) async throws -> CopyChange? {
        guard let base, base.strength == .strong, let etag = held.item.etag,
            let item = try await database.read({ try $0.items.item(localID: id) }),
            let copy = item.copy, copy.etag == base, copy.mark.size == held.item.size
        else { return nil }
        var dated = copy
        dated.etag = etag
        if item.cloudStatus == .localCopy,
            let mark = await runBlocking({ [tree] in tree.setModificationTime(time, of: copy, at: item.path) })
        {
            dated.mark = mark
        }
        return CopyChange(before: copy, after: dated)
    }

    // MARK: The result

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        var item = try item(of: record, in: tx)
        let pending = try pendingProperties(of: item, besides: record, in: tx)
        if var made {
            if pending.contains(.isMarked) { made.isFavorite = item.isFavorite }
            if pending.contains(.isDated) { made.lastModified = item.lastModified }
            item = try confirm(item, as: made, in: tx)
        }
        if pending.isEmpty { item.syncActivity.remove(Self.activity) } else { item.syncActivity.insert(Self.activity) }
        try tx.items.updateLocal(item)
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        guard case .setModificationTime(let time, let former) = record.action else { return }
        for var later in try tx.journal.records(of: found.localID) where later.id > record.id {
            guard case .setModificationTime(let wanted, time) = later.action else { continue }
            later.action = .setModificationTime(wanted, former: former)
            try tx.journal.update(later)
        }
        var item = found
        let pending = try pendingProperties(of: item, besides: record, in: tx)
        if pending.isEmpty { item.syncActivity.remove(Self.activity) }
        if item.lastModified == time { item.lastModified = former }
        try tx.items.update(item)
    }
}

extension HeldItem {
    /// Tells whether this is a file with a modification time, to the second.
    fileprivate func isFile(of time: Timestamp) -> Bool {
        item.kind == .file && item.lastModified?.seconds == time.seconds
    }
}
