import Database
import Model

/// A part of the journal, in the journal's order.
struct JournalPage: Sendable {
    var jobs: [Job] = []
    /// The ordinary downloads, which are not among the jobs; nil if there are none.
    var batch: DownloadBatch?
    /// The last record that was read.
    var last = SyncRecordID.none
    /// Whether no record follows ``last``.
    var isLast = true
    /// The last removal that was read.
    var lastRemoval = SyncRecordID.none
    /// Whether no removal follows ``lastRemoval``.
    var isLastRemoval = true
    /// The earliest time when a waiting record may go on.
    var earliestWait: Timestamp?
    /// The actions that turned out to be no longer wanted, and whose records are gone.
    var dropped: [DroppedAction] = []
    /// The room that is left for downloads; nil if there is no limit.
    var room: DownloadRoom?
    /// The downloads that wait for room, of this page and of those before it; nil if there are none.
    var lack: RoomLack?
    /// Whether copies of removed items are here, which may lie in the place of other items.
    var mayBeHeld = false
    /// The moves of the journal, in their order; nil until they are needed.
    var moves: [SyncRecord]?
    /// Tells whether an item is covered, as ``EnginePartners/covers(_:for:)``.
    var isCovered: @Sendable (Item, DownloadTrigger) throws -> Bool? = { _, _ in true }
}

/// A position in the journal from which to read on.
struct JournalRequest: Hashable, Sendable {
    /// The last record that was read. 0 means: read from the beginning.
    var after: SyncRecordID
    /// The last removal that was read.
    var removalsAfter: SyncRecordID
    /// Whether to read other records than removals too.
    var readsOn: Bool
    /// The downloads, among the records that were read, that wait for room.
    var lack: RoomLack?
    /// Whether ordinary downloads are to be read as a batch.
    var takesBatch = false
}

extension JournalPage {
    /// Returns the moves of the journal, which are read once. Many changes may have to be read for them.
    mutating func readMoves(in tx: Transaction) throws -> [SyncRecord] {
        if let moves { return moves }
        let found = try tx.journal.hasPendingPlaces() ? tx.journal.moves(after: .none) : []
        moves = found
        return found
    }

    /// Returns the path that an item has on the server when a record's turn comes. The item's own path is that after all
    /// moves of the journal.
    mutating func serverPath(
        of item: Item, before record: SyncRecordID, in tx: Transaction
    ) throws -> ItemPath {
        var path = item.path
        for move in try readMoves(in: tx).reversed() where move.id > record {
            guard let target = move.action.otherPath, target == path || target.isAncestor(of: path) else { continue }
            path = path.moved(from: target, to: move.path)
        }
        return path
    }
}
