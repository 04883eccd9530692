import Database
import LocalTree
import Model

/// The outcome of writing a difference.
enum TreeChangeOutcome {
    /// A difference that was written, with the finding to report to a person, if any.
    case written(TreeFinding?)
    /// A difference that is outdated: the row or the file has changed since the comparison. They must be compared
    /// again.
    case outdated
}

extension Transaction {
    /// Writes a difference into its row, unless the row or the file has changed since the comparison.
    func write(_ change: TreeChange, _ tree: Tree) throws -> TreeChangeOutcome {
        switch change {
        case .added(let path, let kind, let mark): return try add(path, kind, mark, tree)
        case .gone(let row):
            guard try current(row) != nil, isWithout(row, tree) else { return .outdated }
            try items.delete(databaseID: row.databaseID)
            return .written(TreeFinding(path: row.path, kind: .removed))
        case .freed(let row):
            guard var item = try current(row), isWithout(row, tree) else { return .outdated }
            item.cloudStatus = .cloudOnly
            item.copy = nil
            item.downloadTrigger = nil
            item.formerTrigger = nil
            try items.updateLocal(item)
            return .written(TreeFinding(path: row.path, kind: .removed))
        case .modified(let row, let mark):
            guard var item = try current(row), tree.mark(at: row.path)?.matches(mark) == true else {
                return .outdated
            }
            item.cloudStatus = .locallyModified
            try items.updateLocal(item)
            return .written(TreeFinding(path: row.path, kind: .modified))
        case .rewritten(let row, let mark):
            guard var item = try current(row), tree.mark(at: row.path)?.matches(mark) == true else {
                return .outdated
            }
            item.size = mark.size
            item.lastModified = mark.modified
            try items.update(item)
            return .written(nil)
        case .used(let row, let time):
            try items.noteUse(databaseID: row.databaseID, time)
            return .written(nil)
        case .renewed(let row, let mark):
            guard var item = try current(row), tree.mark(at: row.path)?.matches(mark) == true else {
                return .outdated
            }
            item.copy?.mark = mark
            guard item.cloudStatus == .locallyModified else {
                try items.renewMark(mark, databaseID: row.databaseID)
                return .written(nil)
            }
            item.cloudStatus = .localCopy
            try items.updateLocal(item)
            return .written(TreeFinding(path: row.path, kind: .restored))
        }
    }

    /// Returns the row's item if the row is unchanged since the comparison, the sync engine is not about to put a file
    /// there, and no moves of the tree are pending.
    private func current(_ row: RecordedEntry) throws -> Item? {
        guard let item = try items.item(databaseID: row.databaseID), item.path == row.path,
            item.cloudStatus == row.status,
            item.copy == row.copy, try !journal.isLanding(row.localID), try moves.isEmpty
        else { return nil }
        return item
    }

    private func isWithout(_ row: RecordedEntry, _ tree: Tree) -> Bool {
        switch TreeDifference.compare(row, with: tree.entry(at: row.path)) {
        case .freed, .gone: true
        default: false
        }
    }

    private func add(
        _ path: ItemPath, _ kind: Item.Kind, _ mark: FileMark?, _ tree: Tree
    ) throws -> TreeChangeOutcome {
        guard try items.recordedEntry(at: path) == nil, try moves.isEmpty else { return .outdated }
        switch tree.entry(at: path) {
        case .file(let now) where kind == .file && mark.map(now.matches) == true: break
        case .folder where kind == .folder: break
        default: return .outdated
        }
        try items.insert(
            Item(
                localID: .random(), fileID: nil, path: path, kind: kind, size: kind == .file ? mark?.size : nil,
                lastModified: kind == .file ? mark?.modified : nil, cloudStatus: .localOnly))
        return .written(TreeFinding(path: path, kind: .added))
    }
}
