public import Model

/// The version of the last copy that was here. A person may have the file from then, and have changed it elsewhere.
extension ItemTable {
    /// Returns the version of the last copy of an item, where the item's version has not become another one by a change
    /// of this account since; nil if there is none.
    public func formerVersion(of id: ItemRowID) throws -> ETag? {
        try row("SELECT formerETag, formerETagStrength FROM items WHERE databaseID = ?", [.id(id)]) {
            ETag($0.text(0), strength: $0.integer(1))
        } ?? nil
    }
}

extension ItemTable where Access == Transaction {
    /// Forgets the version of the last copy, since the item's version is another one by a change of this account.
    public func forgetFormerVersion(of id: ItemRowID) throws {
        try run("UPDATE items SET formerETag = NULL WHERE databaseID = ? AND formerETag IS NOT NULL", .id(id))
    }
}
