import GRDB
package import Model

extension DatabaseFile {
    /// Makes the copy of a backup, or an empty file, the database of a vault that begins now.
    /// - Parameters:
    ///   - vault: The vault's id; nil if the id is not known.
    ///   - isRestored: Whether the file is a backup's copy, with which the local copies must be compared.
    /// - Throws: `.localIO` if the file cannot be read or written, or is damaged; `.vaultLocked` if another program has
    ///   it locked; else `.internal`.
    package func makeCurrent(vault: String?, isRestored: Bool) throws(Failure) {
        try change { db in
            try db.execute(sql: Self.strip)
            let set = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"
            if let vault { try db.execute(sql: set, arguments: [MetaKey.vaultID.name, vault]) }
            // The uploads that the snapshots belong to are not known any more.
            try db.execute(sql: set, arguments: [MetaKey.keepsSnapshots.name, 1])
            if isRestored { try db.execute(sql: set, arguments: [MetaKey.isRestored.name, 1]) }
        }
    }

    /// The statements that delete the state of another time. They make each copy be read and compared with its digest
    /// (`copyRecorded`), and each folder be listed. They also advance the row numbers, since files in the vault are
    /// named by some of them, and no such number may be given out again. What records were about to change on the
    /// server is shown as it was, and the first walk settles the rest.
    private static let strip = """
        DELETE FROM syncRecords;
        DELETE FROM pendingPlaces;
        DELETE FROM items WHERE fileID IS NULL AND NOT (\(ItemSQL.isHere));
        UPDATE items SET removedAt = NULL, deletedBy = NULL WHERE deletedBy IS NOT NULL AND NOT \(ItemSQL.hasSuccessor);
        UPDATE items SET deletedBy = NULL WHERE deletedBy IS NOT NULL;
        DELETE FROM issues;
        DELETE FROM scanJobs;
        DELETE FROM missingItems;
        DELETE FROM treeMoves;
        DELETE FROM policyChanges;
        DELETE FROM tombstones;
        UPDATE items SET syncActivity = 0, listedETag = NULL, racy = 0, copyRecorded = 0 WHERE copyRecorded IS NOT NULL;
        UPDATE items SET syncActivity = 0, listedETag = NULL, racy = 0 WHERE copyRecorded IS NULL;
        UPDATE sqlite_sequence SET seq = seq + 1000000;
        DELETE FROM meta WHERE key IN (
          'bootID', 'lastWholeWalk', 'firstWalk', 'lastScan', 'nextPoll', 'runningPlugins', 'pluginNotes',
          'openedLibraries', 'anchorMarks');
        INSERT OR REPLACE INTO meta (key, value) VALUES ('epoch', abs(random() % 281474976710656));
        INSERT OR REPLACE INTO meta (key, value) SELECT 'tombstoneFloor', value FROM meta WHERE key = 'anchor';
        """

    /// Returns the copies that the database knows of, for items that are not removed. The function blocks.
    /// - Throws: The errors of ``damage(isThorough:)``, also `.localIO` if the file is damaged.
    package func knownCopies() throws(Failure) -> [KnownCopy] {
        do { return try reading(Self.copies) } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    /// Returns the changes of the server that the journal holds, up to where it cannot be read any more. The function
    /// blocks.
    /// - Throws: As ``knownCopies()`` if nothing can be read.
    package func queuedChanges() throws(Failure) -> [SyncRecord] {
        do { return try reading(Self.changes) } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    private static func changes(_ db: GRDB.Database) throws -> [SyncRecord] {
        let rows = try RawStatement(db, SyncRecordQuery.changesAfter)
        defer { rows.reset() }
        rows.bind(1, Int64(0))
        var changes: [SyncRecord] = []
        while true {
            let hasRow: Bool
            do { hasRow = try rows.step() } catch {
                if changes.isEmpty { throw error }
                return changes
            }
            guard hasRow else { return changes }
            if let change = SyncRecord(rows) { changes.append(change) }
        }
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

/// The database's record of an item's copy.
package struct KnownCopy: Sendable {
    package var fileID: FileID?
    package var path: ItemPath
    /// The ETag of the version that the copy holds.
    package var etag: ETag
    /// The SHA-256 of the content, 32 bytes.
    package var digest: [UInt8]
    package var trigger: DownloadTrigger?
}

extension MetaKey {
    /// Whether the vault was restored from a backup and its local copies have not yet been compared with that backup.
    public static let isRestored = MetaKey("isRestored")
    /// Whether snapshots of files to upload are kept, even if no upload needs them, since the vault was restored from a
    /// backup and a snapshot may be the only copy of a person's file.
    public static let keepsSnapshots = MetaKey("keepsSnapshots")
}
