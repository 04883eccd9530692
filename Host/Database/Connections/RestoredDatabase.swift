import GRDB
package import Model

extension DatabaseFile {
    /// Makes the copy of a backup, or an empty file, the database of a vault that begins now.
    /// - Parameters:
    ///   - vault: The vault's id; nil: it is not known.
    ///   - isRestored: whether it is a backup's copy, whose local copies are to be compared with it.
    /// - Throws: `.localIO` if it cannot be read or written, or is damaged; `.vaultLocked` if another program has it
    ///   locked; else `.internal`.
    package func makeCurrent(vault: String?, isRestored: Bool) throws(Failure) {
        try change { db in
            try db.execute(sql: Self.strip)
            let set = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"
            if let vault { try db.execute(sql: set, arguments: [MetaKey.vaultID.name, vault]) }
            if isRestored { try db.execute(sql: set, arguments: [MetaKey.isRestored.name, 1]) }
        }
    }

    /// What is of another time goes. Each copy is to be read and compared with its digest (`copyRecorded`), each folder to be listed.
    /// Numbers that files in the vault are named by are not given out again.
    private static let strip = """
        DELETE FROM syncRecords;
        DELETE FROM issues;
        DELETE FROM scanJobs;
        DELETE FROM missingItems;
        DELETE FROM treeMoves;
        DELETE FROM policyChanges;
        UPDATE items SET syncActivity = 0, listedETag = NULL, racy = 0, copyRecorded = 0 WHERE copyRecorded IS NOT NULL;
        UPDATE items SET syncActivity = 0, listedETag = NULL, racy = 0 WHERE copyRecorded IS NULL;
        UPDATE sqlite_sequence SET seq = seq + 1000000;
        DELETE FROM meta WHERE key IN ('bootID', 'lastWholeWalk', 'firstWalk', 'lastScan', 'nextPoll', 'runningPlugins', 'pluginNotes');
        """

    /// The copies that a database knows of, of items that are not removed. It blocks.
    /// - Throws: As ``damage(isThorough:)``, also `.localIO` if it is damaged.
    package func knownCopies() throws(Failure) -> [KnownCopy] {
        do { return try reading(Self.copies) } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    private static func copies(_ db: GRDB.Database) throws -> [KnownCopy] {
        let rows = try RawStatement(
            db,
            """
            SELECT fileID, path, copyETag, copyETagStrength, copyDigest, downloadTrigger FROM items
            WHERE copyDigest IS NOT NULL AND removedAt IS NULL
            """)
        defer { rows.reset() }
        var copies: [KnownCopy] = []
        while try rows.step() {
            guard let path = rows.text(1), let etag = ETag(rows.text(2), strength: rows.integer(3)),
                let digest = rows.blob(4)
            else { continue }
            copies.append(
                KnownCopy(
                    fileID: rows.text(0).map(FileID.init), path: ItemPath(unchecked: path), etag: etag,
                    digest: digest, trigger: rows.text(5).map(DownloadTrigger.init)))
        }
        return copies
    }
}

/// What a database says of an item's copy.
package struct KnownCopy: Sendable {
    package var fileID: FileID?
    package var path: ItemPath
    /// The version that the copy is of.
    package var etag: ETag
    /// SHA-256, 32 bytes.
    package var digest: [UInt8]
    package var trigger: DownloadTrigger?
}

extension MetaKey {
    /// Set after a restore, until what is here was compared with the backup that it took.
    public static let isRestored = MetaKey("isRestored")
}
