package import Model

/// A row's record of a path, as far as the tree is concerned.
package struct RecordedEntry: Hashable {
    package var databaseID: ItemRowID
    package var localID: LocalID
    package var path: ItemPath
    package var kind: Item.Kind
    package var status: CloudStatus
    package var copy: LocalCopy?
    /// The size of an item that is only here, as the tree last had it.
    package var size: Int64?
    package var lastModified: Timestamp?
    package var lastUsed: Timestamp?
}

/// The rows' record of a name in a folder.
package struct RecordedName: Hashable {
    package var kind: Item.Kind
    /// Whether something is here, or is meant to be here.
    package var isHere: Bool
    /// Whether this is a folder that is removed. It may be here, since it was made for copies that are still in it.
    package var isRemovedFolder: Bool

    package init(kind: Item.Kind, isHere: Bool, isRemovedFolder: Bool = false) {
        (self.kind, self.isHere, self.isRemovedFolder) = (kind, isHere, isRemovedFolder)
    }
}

extension RecordedEntry {
    fileprivate static let columns = """
        databaseID, localID, path, type, cloudStatus, copyETag, copyETagStrength, copyDigest, copyInode, copySize,
        copyModified, copyChanged, copyRecorded, size, lastModified, lastUsed
        """

    fileprivate init(_ row: RawStatement) {
        let text = { (column: Int32) in row.text(column) ?? "" }
        let time = { (column: Int32) in row.integer(column).map(Timestamp.init(nanoseconds:)) }
        self.init(
            databaseID: row.id(0), localID: LocalID(text(1)), path: ItemPath(unchecked: text(2)),
            kind: row.kind(3),
            status: row.status(4),
            copy: LocalCopy(row, from: 5), size: row.integer(13), lastModified: time(14), lastUsed: time(15))
    }
}

/// The reads that a comparison with the tree needs.
extension ItemTable {
    /// Reads the rows at and below a path that record something as being here, those of removed items too, folder by
    /// folder.
    /// - Throws: What `body` throws.
    package func eachRecordedEntry(at scope: ItemPath, _ body: (RecordedEntry) throws -> Void) throws {
        let isInScope = scope.isRoot ? "path <> '/'" : "(path = ? OR (\(ItemSQL.isInRange)))"
        let statement = try RawStatement(
            db,
            "SELECT \(RecordedEntry.columns) FROM items WHERE \(ItemSQL.isHere) AND \(isInScope) "
                + "ORDER BY parentPath"
        )
        defer { statement.reset() }
        if !scope.isRoot { statement.bind([.path(scope)] + ItemSQL.range(below: scope)) }
        while try statement.step() { try body(RecordedEntry(statement)) }
    }

    /// Returns the names in a folder that rows record: those of items that are not removed, those of removed items that
    /// are still here, and those of removed folders. A folder may hold very many entries, so that only kind and presence
    /// are kept of each.
    package func recordedNames(in folder: ItemPath) throws -> [FileName: RecordedName] {
        let statement = try RawStatement(
            db,
            """
            SELECT name, type, \(ItemSQL.isHere), removedAt IS NULL FROM items
            WHERE parentPath = ? AND path <> '/' AND (removedAt IS NULL OR \(ItemSQL.isHere) OR \(ItemSQL.isFolder))
            """)
        defer { statement.reset() }
        statement.bind(1, folder.text)
        var names: [FileName: RecordedName] = [:]
        while try statement.step() {
            let name = FileName(text: statement.text(0) ?? "")
            let isHere = statement.integer(2) == 1
            let isRemovedFolder = !isHere && statement.integer(3) != 1
            // If a removed item's row and its successor's have the same name, the row of the item that is here is
            // chosen, and that of a removed folder last.
            if let other = names[name] {
                guard isHere || other.isRemovedFolder && !isRemovedFolder else { continue }
            }
            names[name] = RecordedName(kind: statement.kind(1), isHere: isHere, isRemovedFolder: isRemovedFolder)
        }
        return names
    }

    /// Tells whether a folder was removed whose row is still known.
    package func isRemovedFolder(_ path: ItemPath) throws -> Bool {
        try exists(
            "SELECT 1 FROM items WHERE path = ? AND removedAt IS NOT NULL AND \(ItemSQL.isFolder)", [.path(path)])
    }

    /// Tells whether something is here, or is meant to be here, below a folder.
    package func holdsCopies(below folder: ItemPath) throws -> Bool {
        try exists(
            "SELECT 1 FROM items WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isHere)", ItemSQL.range(below: folder))
    }

    /// Returns the row of a name in a folder, chosen as in ``recordedNames(in:)`` but for removed folders.
    package func recordedEntry(at path: ItemPath) throws -> RecordedEntry? {
        try row(
            """
            SELECT \(RecordedEntry.columns) FROM items WHERE path = ? AND (removedAt IS NULL OR \(ItemSQL.isHere))
            ORDER BY \(ItemSQL.isHere) DESC LIMIT 1
            """, [.path(path)], RecordedEntry.init)
    }

    /// Tells whether a path lies in a folder at whose path the rows record a file. The contents of such a folder belong
    /// to no item.
    package func isInObstructedFolder(_ path: ItemPath) throws -> Bool {
        var folder = path.parent
        while !folder.isRoot {
            if let row = try recordedEntry(at: folder) { return row.kind != .folder }
            folder = folder.parent
        }
        return false
    }
}
