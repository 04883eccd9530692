import Connection
import Database
import LocalTree
import Logging
import Model

/// A change that one transaction concludes.
protocol RecordedChange: ChangeAction where Effect == RecordedEffect {
    /// Records in the item that the server has made the change. The record is still in the journal.
    /// - Parameter made: What the server has at the record's path now, if the action asked for it.
    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws
}

/// What the server has made of a change.
struct RecordedEffect: Sendable {
    /// What the server has at the record's path now, if the action asked for it.
    var item: ListedItem?
    var copy: CopyChange?
}

/// A change of what is known of an item's copy, because of a change on the server.
struct CopyChange: Sendable {
    var before: LocalCopy
    var after: LocalCopy

    /// Writes the change, unless the item has another copy by now. A mark that was renewed meanwhile stays.
    func apply(to id: LocalID, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: id), var copy = item.copy, copy.etag == before.etag,
            copy.digest == before.digest
        else { return }
        copy.etag = after.etag
        if copy.mark == before.mark { copy.mark = after.mark }
        item.copy = copy
        try tx.items.updateLocal(item)
    }
}

extension ChangeResult where Effect == RecordedEffect {
    static func done(_ item: ListedItem? = nil, copy: CopyChange? = nil) -> Self {
        .made(RecordedEffect(item: item, copy: copy))
    }
}

extension RecordedChange {
    func conclude(_ job: Job, made effect: RecordedEffect) async throws -> ChangeOutcome {
        let outcome = try await database.writeTogether { tx in try conclude(job, effect, in: tx) }
        counters.change { $0.changes += 1 }
        return .resolved(outcome)
    }

    private func conclude(_ job: Job, _ effect: RecordedEffect, in tx: Transaction) throws -> RecordOutcome {
        guard var record = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        try tx.noteDecided(&record)
        let former = try tx.items.item(localID: record.localID)?.etag
        try finish(record, effect.item, in: tx)
        try context.records.passOn(effect.item?.etag, from: former, after: record, in: tx)
        if let copy = effect.copy { try copy.apply(to: record.localID, in: tx) }
        // Others may have changed the same folders.
        for place in record.places { try tx.scan.requestListing(of: place.path.parent) }
        for place in record.changedPlaces where place.change != .isMarked {
            try tx.scan.noteOwnChange(at: place.path)
        }
        logger.debug("The action \(record.action.kind.rawValue) of \(record.path) is done")
        return try context.records.done(record, in: tx)
    }

    /// Returns the result for what the server said.
    /// - Throws: The error for an answer that does not tell whether the server did it.
    func result(
        _ outcome: WriteOutcome, of request: WriteRequest
    ) throws(ConnectionError) -> ChangeResult<RecordedEffect> {
        switch outcome {
        case .done: return .done()
        case .refused(let refusal): return result(refusal, of: request)
        case .unclear(let error): throw error
        }
    }
}

extension Transaction {
    /// Notes that the server has decided about a change.
    func noteDecided(_ record: inout SyncRecord) throws {
        guard record.mayHaveArrived else { return }
        record.mayHaveArrived = false
        record.evidence.noteDecided()
        try journal.update(record)
    }
}
