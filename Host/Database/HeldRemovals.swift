import GRDB
public import Model

/// The issue in which removals are held that are too many, and the records that wait with it.
public enum HeldRemovals {
    public static let code = "list.removals"
    /// There is one for an account: what is missing, all together.
    public static let subject = "/"
}

extension DatabaseReads {
    /// Nil: nothing is held.
    public func heldRemovals() throws -> Issue? {
        try issues.issue(code: HeldRemovals.code, subject: HeldRemovals.subject)
    }

    /// Whether an item, or a folder above it, is missing and not yet decided about.
    public func isMissing(_ item: Item) throws -> Bool {
        guard try hasMissing() else { return false }
        if try isMissing(item.databaseID) { return true }
        var folder = item.path.parent
        while !folder.isRoot {
            if let row = try scanRow(at: folder), try isMissing(row.databaseID) { return true }
            folder = folder.parent
        }
        return false
    }
}

extension Transaction {
    /// Nothing is held any more: takes the issue away, and lets go on what waited with it.
    public func endHold() throws {
        guard let issue = try heldRemovals() else { return }
        try issues.remove(id: issue.id)
        try journal.endWaits(forIssue: issue.id)
    }
}
