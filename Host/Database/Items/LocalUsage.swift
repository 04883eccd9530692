public import Model

/// How much is here of the account.
public struct LocalUsage: Hashable, Sendable {
    /// Files that are here as a version of the server's, changed since or not.
    public var localCopies: Int64 = 0
    /// What these hold, in bytes, as recorded.
    public var localBytes: Int64 = 0
    /// Files and folders that were changed or made here.
    public var locallyChanged: Int64 = 0

    /// Answered by the index of what is here, which has each of these columns.
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

    /// Reads the row of ``sql``.
    init(_ row: RawStatement) {
        localCopies = row.integer(0) ?? 0
        localBytes = row.integer(1) ?? 0
        locallyChanged = row.integer(2) ?? 0
    }
}

extension ReadSession {
    /// The number of the last transaction that changed items, 0 if there was none. While it is the same, so are all items.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func anchor() throws(Failure) -> Int64 {
        try first("SELECT value FROM meta WHERE key = '\(MetaKey.anchor.name)'") { $0.integer(0) ?? 0 } ?? 0
    }

    /// It reads an entry of an index for each file and folder that is here, and no row.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func localUsage() throws(Failure) -> LocalUsage {
        try first(LocalUsage.sql, LocalUsage.init) ?? LocalUsage()
    }

    /// What of it is about to go: its removal is in the journal and waits for nothing. Costs as much as there are removals.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func goingUsage() throws(Failure) -> LocalUsage {
        try first(LocalUsage.goingSQL, LocalUsage.init) ?? LocalUsage()
    }
}
