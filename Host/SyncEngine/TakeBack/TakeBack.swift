import Database
import LocalTree
import Logging
import Model

/// Taking back is never refused: what was queued behind a record that is taken back, and builds on it, goes with it, or
/// goes on where the items are then. A file that was to be uploaded into a folder that is not made is kept here.
struct TakeBack: EnginePart {
    let context: ActionContext

    /// Makes the later records fit a change of what is before them, and the item list with them.
    /// - Parameters:
    ///   - record: The record that is taken back or changed.
    ///   - displacement: What is not where the later records expect it; nil if all is there.
    ///   - source: What the record was to copy, and may not have: its deletions are taken back, and its new versions
    ///     stay here.
    ///   - place: Where the file stays that the record was to upload; nil if it does not stay.
    func rewriteQueue(
        behind record: SyncRecord, _ displacement: QueueRewrite.Displacement?, sparing source: ItemPath? = nil,
        keeping place: KeptPlace? = nil, in tx: Transaction
    ) throws {
        var given: Set<ItemPath> = []
        var queue = QueueRewrite(displacement, sparing: source) { [self] path in
            let free = try freeName(beside: path, besides: given, in: tx)
            given.insert(free)
            return free
        }
        var (gone, kept): ([SyncRecord], [SyncRecord]) = ([], [])
        for later in try tx.journal.changes(after: record.id) {
            switch try queue.take(later) {
            case .stays: break
            case .changes(let new): try rewrite(later, to: new, in: tx)
            case .goes: gone.append(later)
            case .keepsFile: kept.append(later)
            }
        }
        for later in gone + kept { try context.records.remove(later, in: tx) }
        // The rows move before any of them is shown again, so that none is in the other's way.
        for displaced in queue.displaced.reversed() {
            if let item = displaced.item, let path = displaced.to { try show(item, at: path, in: tx) }
        }
        for later in gone.reversed() {
            logger.notice("The action \(later.action.kind.rawValue) of \(later.path) is taken back too")
            try takeBackAlone(later, in: tx)
        }
        for (deletion, item) in queue.spared { try tx.items.unhide(item, hiddenBy: deletion) }
        if let place { try keepFile(of: record, place, in: tx) }
        for later in kept {
            try keepFile(of: later, .inPlace, in: tx)
            try UploadAction(context).endActivity(of: later, in: tx)
        }
        for displaced in queue.displaced.reversed() where displaced.to == nil && !displaced.isKept {
            if let item = try displaced.item.flatMap({ try tx.items.item(localID: $0) }) {
                try removePlaceholder(item, in: tx)
            }
        }
    }

    /// Takes back a record that was to make its item.
    /// - Parameter source: What was to be copied.
    func takeBackMaking(
        _ record: SyncRecord, of item: Item, copied source: ItemPath? = nil, in tx: Transaction
    ) throws {
        let displacement = QueueRewrite.Displacement(from: record.path, item: item.localID, isTakenBack: true)
        try rewriteQueue(behind: record, displacement, sparing: source, in: tx)
    }

    private func rewrite(_ later: SyncRecord, to rewritten: SyncRecord, in tx: Transaction) throws {
        var new = rewritten
        // What was seen was seen at other places.
        new.evidence = ChangeEvidence()
        for place in later.places { try tx.scan.requestListing(of: place.path.parent) }
        if case .upload(let upload) = new.action, case .upload(let before) = later.action, upload.isNew != before.isNew,
            var item = try tx.items.item(localID: new.localID)
        {
            (item.size, item.lastModified) = (upload.size, upload.modified)
            // The upload makes it now, and not what is taken back.
            item.syncActivity.subtract([.copying, .creating])
            try tx.items.update(item)
        }
        try tx.journal.replace(new)
        controls.suspend(new.id, cancels: false)
        let other = new.action.otherPath.map { ", with \($0)" } ?? ""
        logger.notice("The action \(new.action.kind.rawValue) of \(later.path) is now that of \(new.path)\(other)")
    }

    /// Takes back what a record that goes with another one has shown by itself.
    private func takeBackAlone(_ record: SyncRecord, in tx: Transaction) throws {
        if record.action.kind == .delete { return try restore(record, in: tx) }
        guard var item = try tx.items.item(localID: record.localID) else { return }
        switch record.action {
        case .setFavorite, .setModificationTime:
            try context.action(record.action.kind).takeBack(record, of: item, in: tx)
        case .move where item.syncActivity.contains(MoveAction.activity):
            item.syncActivity.remove(MoveAction.activity)
            try tx.items.updateLocal(item)
        default: break
        }
    }

    // MARK: Rows

    /// Gives an item's row the path at which the item is. What a person has put there here, and nowhere else, goes
    /// beside it.
    private func show(_ id: LocalID, at path: ItemPath, in tx: Transaction) throws {
        guard let item = try tx.items.item(localID: id), item.path != path else { return }
        guard try item.isRemoved || makeWay(at: path, in: tx) else {
            // The listing tells which of both is there.
            return try tx.scan.requestListing(of: path.parent)
        }
        _ = try tx.items.move(item, to: path)
    }

    /// Moves what is only here away from a path at which an item of the server's is to be shown again.
    /// - Returns: Whether the path is free.
    private func makeWay(at path: ItemPath, in tx: Transaction) throws -> Bool {
        guard let other = try tx.items.item(at: path) else { return true }
        guard other.cloudStatus == .localOnly else { return false }
        let beside = try freeName(beside: path, in: tx)
        _ = try tx.items.move(other, to: beside)
        logger.notice("\(path), which exists only here, is \(beside) now")
        return true
    }

    /// Brings back the items that a record was about to delete.
    func restore(_ deletion: SyncRecord, in tx: Transaction) throws {
        while let taken = try tx.items.unhide(for: deletion.id) {
            guard try !makeWay(at: taken, in: tx) else { continue }
            // The server was found to have something else there since.
            try tx.items.giveUpHidden(at: taken, for: deletion.id)
        }
    }

    /// Removes the placeholder of an item that is not made after all, with the placeholders below it. What is here stays.
    func removePlaceholder(_ found: Item, in tx: Transaction) throws {
        var item = found
        guard found.fileID == nil else {
            // Somebody else has made it meanwhile.
            item.syncActivity.subtract([.creating, .copying, .uploading])
            if item != found { try tx.items.updateLocal(item) }
            return
        }
        let children = found.kind == .folder ? try tx.items.children(of: found.path) : []
        for child in children { try removePlaceholder(child, in: tx) }
        item.syncActivity = []
        let isEmpty = try children.isEmpty || tx.items.children(of: found.path).isEmpty
        let isHere = try isHere(found)
        if isEmpty, !isHere {
            try dropDownloads(of: found, in: tx)
            try tx.items.delete(databaseID: found.databaseID)
            return
        }
        item.cloudStatus = .localOnly
        if item != found { try tx.items.updateLocal(item) }
    }

    /// Tells whether something of an item that is not on the server is here. A folder that was made here for a policy
    /// goes with its placeholder.
    private func isHere(_ item: Item) throws -> Bool {
        switch (item.kind, item.cloudStatus) {
        case (_, .cloudOnly): false
        case (.folder, .localCopy): try !tree.removeFolderIfEmpty(item.path)
        default: true
        }
    }

    /// Returns a path beside another at which nothing is: `name (2026-11-25 16.20.33).ext`.
    /// - Parameter others: Paths that are not free.
    func freeName(beside path: ItemPath, besides others: Set<ItemPath> = [], in tx: Transaction) throws -> ItemPath {
        let time = "\(clock.now())".prefix(19).map { $0 == "T" ? " " : $0 == ":" ? "." : $0 }
        let (stem, ending) = path.name.splitAtExtension
        for number in 1... {
            let mark = " (\(String(time))\(number == 1 ? "" : ", \(number)"))"
            let room = ItemPath.longestName - mark.utf8.count - ending.utf8.count
            var short = stem
            while short.utf8.count > room, !short.isEmpty { short.removeLast() }
            let free: ItemPath
            do { free = try path.parent.appending(short + mark + ending) } catch {
                throw Failure(.badData, "There is no name left beside \(path)")
            }
            if !others.contains(free), try tx.items.item(at: free) == nil, tree.mark(at: free) == nil { return free }
        }
        throw Failure(.internal, "There is no name left beside \(path)")
    }
}

extension String {
    /// The name and its extension, which begins with a full stop and is empty if there is none. A name that begins with
    /// its only full stop has no extension, and no extension is longer than 32 bytes.
    fileprivate var splitAtExtension: (stem: String, ending: String) {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")), dot != startIndex,
            utf8.index(after: dot) != endIndex, utf8.distance(from: dot, to: endIndex) <= 32
        else { return (self, "") }
        return (String(self[..<dot]), String(self[dot...]))
    }
}
