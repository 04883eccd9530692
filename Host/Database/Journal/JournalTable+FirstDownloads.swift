public import Model

/// The first downloads of files, recorded together.
extension JournalTable where Access == Transaction {
    /// Adds records for the downloads of files of which nothing is here and nothing else is wanted, after all others and
    /// in the order of the items. It leaves out every other item: folders, removed items, items that are here in any way,
    /// and items with a record.
    /// - Parameters:
    ///   - items: The items' ids, each once.
    ///   - reason: The requester.
    ///   - whileCovered: As ``SyncRecord/whileCovered``.
    ///   - time: The time since which the downloads are wanted.
    /// - Returns: The items that were not left out, and the sum of their sizes in bytes.
    public func insertFirstDownloads(
        of items: [LocalID], for reason: DownloadTrigger, whileCovered: Bool, since time: Timestamp
    ) throws -> (items: Set<LocalID>, bytes: Int64) {
        let marking = try RawStatement(db, FirstDownloadSQL.marking)
        marking.bind(1, FirstDownloadSQL.list(items))
        marking.bind(2, try access.anchor)
        var (marked, bytes): (Set<LocalID>, Int64) = ([], 0)
        do {
            defer { marking.reset() }
            while try marking.step() {
                access.noteUpdated(marking.id(0))
                marked.insert(LocalID(marking.text(1) ?? ""))
                bytes = bytes.adding(marking.integer(2) ?? 0)
            }
        }
        guard !marked.isEmpty else { return ([], 0) }
        let insertion = try RawStatement(db, FirstDownloadSQL.insertion)
        insertion.bind(1, FirstDownloadSQL.list(items.filter(marked.contains)))
        insertion.bind(2, reason.text)
        insertion.bind(3, time.nanoseconds)
        insertion.bind(4, whileCovered ? 1 : 0)
        try insertion.run()
        access.noteRecordsChanged()
        return (marked, bytes)
    }
}

private enum FirstDownloadSQL {
    /// Marks the items as being downloaded.
    static let marking = """
        UPDATE items SET syncActivity = syncActivity | \(SyncActivity.downloading.rawValue), anchor = ?2
        WHERE localID IN (SELECT value FROM json_each(?1))
          AND \(ItemSQL.isFile) AND removedAt IS NULL AND cloudStatus = \(CloudStatus.cloudOnly.sql)
          AND NOT EXISTS (SELECT 1 FROM syncRecords WHERE syncRecords.localID = items.localID)
        RETURNING databaseID, localID, size
        """

    static let insertion = """
        INSERT INTO syncRecords (action, state, localID, path, reason, since, whileCovered)
        SELECT '\(SyncRecord.Action.Kind.download.rawValue)', \(State.ready.sql), items.localID, items.path, ?2, ?3, ?4
        FROM json_each(?1) AS wanted CROSS JOIN items ON items.localID = wanted.value
        """

    /// Returns a JSON array of ids.
    static func list(_ items: [LocalID]) -> String { JSONValue.array(items.map { .string($0.text) }).text }
}
