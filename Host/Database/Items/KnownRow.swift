package import Model

/// The row of an item that the server is known to have, compared where SQLite has it. It is valid until the next row is
/// read.
package struct KnownRow {
    fileprivate static let columns = """
        databaseID, path, type, fileID, etag, etagStrength, size, lastModified, mimeType, favorite, owner, permissions,
        racy
        """
    fileprivate let row: RawStatement

    /// The row's id.
    package var databaseID: ItemRowID { row.id(0) }

    /// The row's path.
    package var path: ItemPath { ItemPath(unchecked: row.text(1) ?? "") }

    /// Tells whether the row is that of a file of which a listing's entry at its path tells nothing new, not even
    /// another strength of its ETag, and whose ETag names one content.
    package func isFile(with entry: ListedItem) -> Bool {
        entry.kind == .file && row.kind(2) == .file
            && (entry.fileID == nil || has(3, entry.fileID?.text))
            && has(4, entry.etag?.opaque) && row.integer(5) == entry.etag.map { Int64($0.strength.rawValue) }
            && row.integer(6) == entry.size && row.integer(7) == entry.lastModified?.nanoseconds
            && has(8, entry.mimeType) && (row.integer(9) == 1) == entry.isFavorite
            && has(10, entry.owner) && has(11, entry.permissions)
            && row.integer(12) == Int64(ScanRow.Racy.no.rawValue)
    }

    private func has(_ column: Int32, _ text: String?) -> Bool {
        guard let text else { return row.isNull(column) }
        return !row.isNull(column) && text.hasBytes(row.bytes(column))
    }
}

extension ItemTable {
    /// Calls `body` with each row that a folder is known to hold on the server, in no order.
    /// - Throws: What `body` throws.
    package func eachKnownChild(of folder: ItemPath, _ body: (KnownRow) throws -> Void) throws {
        let statement = try RawStatement(
            db, "SELECT \(KnownRow.columns) FROM items WHERE parentPath = ? AND path <> '/' AND \(ItemSQL.isListed)")
        defer { statement.reset() }
        statement.bind(1, folder.text)
        while try statement.step() { try body(KnownRow(row: statement)) }
    }
}
