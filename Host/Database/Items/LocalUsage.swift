public import Model

/// The size of the local part of the account.
public struct LocalUsage: Hashable, Sendable {
    /// The number of files that are here as a version of the server's, changed since or not.
    public var localCopies: Int64 = 0
    /// The size of these files in bytes, as recorded.
    public var localBytes: Int64 = 0
    /// The number of files and folders that were changed or made here.
    public var locallyChanged: Int64 = 0

    /// The query for the local usage. SQLite answers it from the index of local items, which has each of these columns.
    static let sql = """
        SELECT count(*) FILTER (WHERE \(ItemSQL.isOfServer) AND \(ItemSQL.isFile)),
          total(copySize) FILTER (WHERE \(ItemSQL.isOfServer)),
          count(*) FILTER (WHERE \(ItemSQL.isChanged))
        FROM items WHERE \(ItemSQL.isHere)
        """

    static let goingSQL = """
        SELECT count(*), coalesce(sum(copySize), 0), 0 FROM items
        WHERE \(ItemSQL.isCopy) AND \(ItemSQL.isFile) AND localID IN (
          SELECT localID FROM syncRecords INDEXED BY syncRecords_removals
          WHERE \(SyncRecordQuery.isRemoval) AND waitUntil IS NULL AND waitIssue IS NULL)
        """

    init() {}

    /// Creates the value from a row of ``sql``.
    init(_ row: RawStatement) {
        localCopies = row.integer(0) ?? 0
        localBytes = row.integer(1) ?? 0
        locallyChanged = row.integer(2) ?? 0
    }
}

extension ReadSession {
    /// Returns the number of the last transaction that changed items; 0 if there was none. While the number stays the
    /// same, all items stay the same.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func anchor() throws(Failure) -> Int64 {
        try first("SELECT value FROM meta WHERE key = '\(MetaKey.anchor.name)'") { $0.integer(0) ?? 0 } ?? 0
    }

    /// Returns the local usage. The query reads an index entry for each file and folder that is here, and no row.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func localUsage() throws(Failure) -> LocalUsage {
        try first(LocalUsage.sql, LocalUsage.init) ?? LocalUsage()
    }

    /// Returns the part of the local usage that is about to be removed: copies whose removal is in the journal and
    /// waits for nothing. The cost grows with the number of removals.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func goingUsage() throws(Failure) -> LocalUsage {
        try first(LocalUsage.goingSQL, LocalUsage.init) ?? LocalUsage()
    }
}
