package import Database
package import LocalTree
package import Logging
import Model
import Synchronization
import Threads

/// A mover that carries out the moves that scans have journalled, so that the tree follows the moves on the server.
///
/// A move is in the journal from the transaction that rewrote the rows until the move is done, so that a start after a
/// crash carries it out. If two items change places, the item that is in the way waits in `incoming/` for its own move.
/// A move waits if its target holds the copy of an item that is gone from the server, or of an item about which this is
/// not decided yet. Only a file may take the place of a file that is certainly gone.
package final class TreeMover: Sendable {
    private let database: Database
    private let tree: Tree
    private let engine: SyncEngine
    private let logger: Logger
    /// Held by the task that carries out moves. Several folders that are listed at once have moves to carry out, and
    /// each move must be made once.
    private let turn = Mutex(())

    package init(database: Database, tree: Tree, engine: SyncEngine, logger: Logger) {
        self.database = database
        self.tree = tree
        self.engine = engine
        self.logger = logger
    }

    /// Carries out the journalled moves.
    /// - Throws: `Failure` of the database or the file system. The remaining moves are made next time.
    package func carryOut() async throws {
        guard try await !database.read({ try $0.moves.all() }).isEmpty else { return }
        try await engine.withExclusiveTree {
            try await runBlocking { [self] in
                try turn.withLock { _ in
                    var waiting: [TreeMove] = []
                    while let move = try next(after: &waiting) { try carryOut(move) }
                    // What waits for the moves that are left waits again.
                    try database.writeBlocking { try $0.journal.endPlaceWaits() }
                }
            }
        }
    }

    /// Removes the empty folders that the server has elsewhere now, where a person has made folders, so that no move
    /// leads to them. A folder stays that holds anything, or that somebody claims.
    /// - Throws: `Failure` of the database.
    package func removeLeftFolders() async throws {
        guard try await !database.read({ try $0.items.foldersMetElsewhere() }).isEmpty else { return }
        try await engine.withExclusiveTree {
            try await runBlocking { [self] in
                try turn.withLock { _ in
                    try database.writeBlocking { tx in
                        for folder in try tx.items.foldersMetElsewhere()
                        where try isUnkept(folder.path, in: tx) && !tx.moves.isToCome(around: folder.path)
                            && engine.validClaim(of: folder, in: tx) == nil && removeIfEmpty(folder.path)
                        { try tx.items.dropCopy(of: folder) }
                    }
                }
            }
        }
    }

    /// Removes a folder if it is empty. One that cannot be removed stays until vacuum's time.
    private func removeIfEmpty(_ folder: ItemPath) -> Bool {
        do { return try tree.removeFolderIfEmpty(folder) } catch {
            logger.debug("\(folder) was left by a move, and stays: \(error)")
            return false
        }
    }

    /// Returns the next move that can be made. Moves that touch the paths of a waiting move wait behind it.
    private func next(after waiting: inout [TreeMove]) throws -> TreeMove? {
        try database.readBlocking { tx in
            let moves = try tx.moves.all()
            for move in moves where !waiting.contains(where: { $0.id == move.id }) {
                guard let item = try tx.items.item(localID: move.localID) else { return move }
                let isHeld = try engine.context.places.isHeld(move.to, for: item, in: tx)
                let mayGo = try !isHeld || foldersToLeave(for: move, item, moves, in: tx) != nil
                guard !mayGo || waiting.contains(where: { $0.touches(move) }) else { return move }
                waiting.append(move)
            }
            return nil
        }
    }

    private func carryOut(_ move: TreeMove) throws {
        guard let item = try database.readBlocking({ try $0.items.item(localID: move.localID) }) else {
            return try end(move)
        }
        try clearWay(of: move, item)
        var outcome = try tree.moveStaged(move.id, to: move.to)
        if outcome == nil, try isAnothers(move) || !hasFile(item, at: move.from) { outcome = .nothingThere }
        switch try outcome ?? (tree.move(from: move.from, to: move.to, known: item.copy)) {
        case .moved(let mark):
            // The folders go before the journal's row: after a crash the row is what leads to them.
            try removeEmptyFolders(above: move.from)
            try database.writeBlocking { tx in
                if let mark, var moved = try tx.items.item(localID: move.localID) {
                    moved.copy?.mark = mark
                    try tx.items.updateLocal(moved)
                }
                try tx.endMove(move)
            }
        case .nothingThere:
            // After a crash the copy may be at its new path already. The comparison with the tree finds out.
            let isDone = tree.mark(at: move.to) != nil
            try removeEmptyFolders(above: move.from)
            try database.writeBlocking { tx in
                if item.cloudStatus == .localCopy, item.kind == .file, !isDone { try tx.items.dropCopy(of: item) }
                try tx.endMove(move)
            }
        case .obstructed where try goesOn(move): break
        case .obstructed(.folder) where item.kind == .folder: try moveContents(of: move)
        case .obstructed(let obstruction): try give(up: move, item, obstruction)
        }
    }

    /// Has the next move of an item begin where this one begins, since the item cannot come to the place in between.
    /// - Returns: False if this is the item's last move.
    private func goesOn(_ move: TreeMove) throws -> Bool {
        let moves = try database.readBlocking { try $0.moves.all() }
        guard let next = moves.first(where: { $0.id > move.id && $0.localID == move.localID && $0.from == move.to })
        else { return false }
        try tree.unstage(move.id, to: move.from)
        try database.writeBlocking { tx in
            try tx.moves.setStart(of: next.id, to: move.from)
            try tx.endMove(move)
        }
        return true
    }

    /// Tells whether the file at the old path belongs to another item, both in the rows and in the tree. The moved
    /// item's own copy made way for that file when the new path was not known yet.
    private func isAnothers(_ move: TreeMove) throws -> Bool {
        try database.readBlocking { tx in
            guard let other = try tx.items.item(at: move.from), other.localID != move.localID, other.kind == .file,
                other.cloudStatus != .cloudOnly
            else { return false }
            return try !tx.moves.all().contains { $0.localID == other.localID }
        }
    }

    /// Tells whether the old path may hold something that must be moved. For a file that is `cloudOnly`, only a file
    /// that a download has just put there counts.
    private func hasFile(_ item: Item, at path: ItemPath) throws -> Bool {
        guard item.kind == .file, item.cloudStatus == .cloudOnly else { return true }
        let landing = try database.readBlocking { tx in
            try tx.journal.records(of: item.localID).lazy.compactMap(\.landing).first
        }
        return landing.map { tree.mark(at: path, ifDigest: $0.digest) != nil } ?? false
    }

    /// Clears the target of a move. Moves what lies at the target aside if it still has a move of its own to come; what
    /// is in it and has an earlier move waits apart, since it would go along. Otherwise removes the unmodified copy of a
    /// removed file, whose place the moved file takes. A later move of the same item is no other's: after a crash the
    /// item may be at the target already.
    private func clearWay(of move: TreeMove, _ item: Item) throws {
        let (moves, gone, folders) = try database.readBlocking { tx in
            let moves = try tx.moves.all()
            let folders = try foldersToLeave(for: move, item, moves, in: tx)
            return (moves, try tx.items.removedCopy(at: move.to), folders)
        }
        if let folders {
            for inner in moves where move.to.isAncestor(of: inner.from) { try stage(inner) }
            let removed = try folders.prefix { try tree.removeFolderIfEmpty($0) }
            try database.writeBlocking { tx in
                for folder in removed { try tx.items.removedCopy(at: folder).map(tx.items.dropCopy) }
            }
        } else if let next = moves.first(where: { $0.from == move.to && $0.localID != move.localID }) {
            for inner in moves where inner.id < next.id && next.from.isAncestor(of: inner.from) { try stage(inner) }
            try tree.stage(next.from, for: next.id)
        } else if let gone, let copy = gone.copy {
            try database.writeBlocking { tx in
                guard try engine.validClaim(of: gone, in: tx) == nil,
                    case .removed = try tree.remove(at: move.to, known: copy)
                else { return }
                try tree.syncRemovals()
                try tx.items.dropCopy(of: gone)
            }
        }
    }

    /// Returns the folders at and below the target of a file's move, the deepest first, if they are removed from the
    /// server, and only files that move elsewhere, or the file itself, are left in them. These folders cannot go before
    /// the files, and the files that wait behind this move not before it. Nil if there is no such file.
    private func foldersToLeave(
        for move: TreeMove, _ item: Item, _ moves: [TreeMove], in reads: some DatabaseReads
    ) throws -> [ItemPath]? {
        let leaving = moves.filter { move.to.isAncestor(of: $0.from) }
        guard item.kind == .file, !leaving.isEmpty, let folders = try reads.items.onlyRemovedFolders(at: move.to),
            !folders.isEmpty
        else { return nil }
        for other in leaving where other.id != move.id {
            guard let item = try reads.items.item(localID: other.localID) else { continue }
            if try engine.context.places.isHeld(other.to, for: item, in: reads) { return nil }
        }
        return folders
    }

    /// Moves what a move concerns aside, to wait there for the move.
    private func stage(_ move: TreeMove) throws {
        guard let item = try database.readBlocking({ try $0.items.item(localID: move.localID) }),
            try hasFile(item, at: move.from), try !isAnothers(move)
        else { return }
        try tree.stage(move.from, for: move.id)
    }

    /// Moves a folder's known contents one by one into a target folder that is not empty.
    private func moveContents(of move: TreeMove) throws {
        try tree.unstage(move.id, to: move.from)
        try database.writeBlocking { tx in
            for folder in try tx.moves.addIntoFolder(from: move.from, to: move.to)
            where try isUnkept(folder, in: tx) { _ = try tree.removeFolderIfEmpty(folder) }
            try tx.endMove(move)
        }
    }

    /// Removes the empty folders above a path, up to the first folder that is kept here for its own sake.
    private func removeEmptyFolders(above path: ItemPath) throws {
        var folder = path.parent
        while !folder.isRoot, try database.readBlocking({ try isUnkept(folder, in: $0) }),
            try tree.removeFolderIfEmpty(folder)
        {
            folder = folder.parent
        }
    }

    /// Tells whether a folder is here only for what it contains: it is no item's, or its item is not kept here.
    private func isUnkept(_ folder: ItemPath, in reads: some DatabaseReads) throws -> Bool {
        guard let item = try reads.items.item(at: folder), item.cloudStatus != .cloudOnly else { return true }
        return try reads.scan.isMissing(item.databaseID)
    }

    /// Ends a move whose target holds something else. The obstacle stays, and a file counts as a person's. The copy
    /// that could not be moved is removed, unless it was changed too or is claimed.
    private func give(up move: TreeMove, _ item: Item, _ obstruction: Obstruction) throws {
        try tree.unstage(move.id, to: move.from)
        logger.notice("The copy cannot be moved to \(move.to): \(obstruction.text) is in the way and stays")
        try database.writeBlocking { tx in
            if let copy = item.copy, try engine.validClaim(of: item, in: tx) == nil {
                _ = try tree.remove(at: move.from, known: copy)
                try tree.syncRemovals()
            }
            // The copy of a removed item, which somebody claims or has open, still belongs to that item.
            if obstruction == .file, item.kind == .file, try tx.items.removedCopy(at: move.to) == nil {
                try tx.items.meetUnknownFile(at: move.localID)
            } else {
                try tx.items.dropCopy(of: item)
            }
            try tx.endMove(move)
        }
    }

    private func end(_ move: TreeMove) throws { try database.writeBlocking { try $0.endMove(move) } }
}

extension Transaction {
    /// Removes a move that was carried out, or that cannot be. After the last one no download waits for a move, also if
    /// nothing runs after this.
    fileprivate func endMove(_ move: TreeMove) throws {
        try moves.remove(move.id)
        if try moves.isEmpty { try journal.endPlaceWaits() }
    }
}

extension TreeMove {
    /// Tells whether the two moves concern the same path, or a path of one lies below a path of the other.
    fileprivate func touches(_ other: TreeMove) -> Bool {
        [from, to].contains { mine in
            [other.from, other.to].contains { $0 == mine || $0.isAncestor(of: mine) || mine.isAncestor(of: $0) }
        }
    }
}
