public import Model

/// The versions of a person's files that were copied from here (`larder get --to FILE`). A file that is uploaded from the
/// same path later replaces that version, and no other.
public struct ExportTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the version of an item, or of what was at its path before, that a file was a copy of; nil if that is not
    /// known.
    public func version(of file: String, copiedFrom item: Item) throws -> ETag? {
        try row(
            "SELECT etag, etagStrength FROM exports WHERE file = ? AND (localID = ? OR path = ?)",
            [.text(file), .text(item.localID.text), .path(item.path)]
        ) { ETag($0.text(0), strength: $0.integer(1)) } ?? nil
    }
}

extension ExportTable where Access == Transaction {
    /// Notes that a file is a copy of this version of an item. Whoever notes files calls ``forgetOldest(beyond:)`` once
    /// afterwards.
    public func note(_ file: String, isCopyOf item: Item, _ version: ETag, at time: Timestamp) throws {
        try note(file, isCopyOf: item.localID, at: item.path, version, at: time)
    }

    /// Notes that a file is a copy of this version of the item with this id and path, as ``note(_:isCopyOf:_:at:)``.
    public func note(
        _ file: String, isCopyOf item: LocalID, at path: ItemPath, _ version: ETag, at time: Timestamp
    ) throws {
        try run(
            """
            INSERT INTO exports (file, localID, path, etag, etagStrength, noted) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (file) DO UPDATE SET localID = excluded.localID, path = excluded.path, etag = excluded.etag,
              etagStrength = excluded.etagStrength, noted = excluded.noted
            """, .text(file), .text(item.text), .path(path), .text(version.opaque),
            .integer(Int64(version.strength.rawValue)), .time(time))
    }

    /// Forgets the files that were noted first, if there are too many. Its cost grows with the number of files.
    /// - Parameter most: The number of files that are remembered.
    public func forgetOldest(beyond most: Int = 10_000) throws {
        try run(
            """
            DELETE FROM exports WHERE noted < (SELECT noted FROM exports ORDER BY noted DESC LIMIT 1 OFFSET ?)
            """, .integer(Int64(most)))
    }
}

extension DatabaseReads {
    /// The files that were copied from here.
    public var exports: ExportTable<Self> { ExportTable(access: self) }
}
