public import Model

/// A folder that a scan has still to list.
public struct ScanJob: Hashable, Sendable {
    public var path: ItemPath
    /// Whether everything below is listed, whatever the ETags say.
    public var isWhole: Bool

    public init(path: ItemPath, isWhole: Bool) {
        self.path = path
        self.isWhole = isWhole
    }
}

/// What scans leave for later: folders still to list, items that were missing in their folder's listing until it is decided about them,
/// and what the guard against mass removal remembers.
///
/// A missing item that another one has displaced at its path has left the list already: its row, and each below it, is flagged as
/// removed and among the missing ones at once. The other rows below a missing folder are not.
public struct ScanTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Reads the folders that are still to be listed, by their paths.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func jobs() throws -> [ScanJob] {
        try rows("SELECT path, whole FROM scanJobs ORDER BY path") {
            ScanJob(path: ItemPath(unchecked: $0.text(0) ?? ""), isWhole: $0.integer(1) == 1)
        }
    }

    /// Tells whether anything is missing.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func hasMissing() throws -> Bool { try exists("SELECT 1 FROM missingItems") }

    /// Tells whether this item itself is missing.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func isMissing(_ databaseID: ItemRowID) throws -> Bool {
        try exists("SELECT 1 FROM missingItems WHERE databaseID = ?", .id(databaseID))
    }

    /// Whether an item, or a folder above it, is missing and not yet decided about.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func isMissing(_ item: Item) throws -> Bool {
        guard try hasMissing() else { return false }
        if try isMissing(item.databaseID) { return true }
        var folder = item.path.parent
        while !folder.isRoot {
            if let row = try access.items.scanRow(at: folder), try isMissing(row.databaseID) { return true }
            folder = folder.parent
        }
        return false
    }

    /// How many items are missing, with all below the folders among them, each once.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func missingCount() throws -> Int {
        var count = try integer("SELECT count(*) FROM missingItems JOIN items USING (databaseID)") ?? 0
        let folders = try missingFolders(in: nil)
        let all = Set(folders)
        for folder in folders where !folder.isBelow(anyOf: all) {
            let below = try row(
                """
                SELECT count(*) FROM items
                WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isListed) AND NOT \(ItemSQL.isMissing)
                """, ItemSQL.range(below: folder)
            ) { $0.integer(0) ?? 0 }
            count += below ?? 0
        }
        return Int(count)
    }

    /// The paths of the first few that are missing.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func firstMissing(_ limit: Int) throws -> [ItemPath] {
        try paths(
            "SELECT DISTINCT path FROM missingItems JOIN items USING (databaseID) ORDER BY path LIMIT ?",
            [.integer(Int64(limit))])
    }

    /// The missing folders that are in the list still.
    /// - Parameter parent: Only those directly in it; nil: all.
    func missingFolders(in parent: ItemPath?) throws -> [ItemPath] {
        try paths(
            """
            SELECT path FROM missingItems JOIN items USING (databaseID)
            WHERE removedAt IS NULL AND \(ItemSQL.isFolder) AND (?1 IS NULL OR parentPath = ?1)
            """, [.optional(parent?.text)])
    }

    private func paths(_ sql: String, _ arguments: [SQLValue]) throws -> [ItemPath] {
        try rows(sql, arguments) { ItemPath(unchecked: $0.text(0) ?? "") }
    }

    // MARK: What the guard against mass removal remembers of the last 24 hours, to the minute: two scans that take a half each take the whole.

    /// Tells whether a count of items is remembered.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func hasRemovalMemory() throws -> Bool { try exists("SELECT 1 FROM removalMemory WHERE known IS NOT NULL") }

    /// The highest count of items in the 24 hours before a time, and how many went in these, but for what a person applied.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func removalMemory(at time: Timestamp) throws -> (known: Int, gone: Int) {
        let begin = SQLValue.integer(time.seconds / 60 - minutesOfDay)
        // A count holds until the next.
        let known = try integer(
            """
            SELECT max(known) FROM removalMemory WHERE minute >= coalesce(
              (SELECT max(minute) FROM removalMemory WHERE minute <= ?1 AND known IS NOT NULL), ?1)
            """, begin)
        let gone = try integer("SELECT sum(gone) FROM removalMemory WHERE minute > ?1", begin)
        return (Int(known ?? 0), Int(gone ?? 0))
    }

    /// The issue in which removals are held; nil: nothing is held.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func heldRemovals() throws -> Issue? {
        try access.issues.issue(code: HeldRemovals.code, subject: HeldRemovals.subject)
    }
}

/// The issue in which removals are held that are too many, and the records that wait with it.
public enum HeldRemovals {
    public static let code = "list.removals"
    /// There is one for an account: what is missing, all together.
    public static let subject = "/"
}

let minutesOfDay: Int64 = 24 * 60

extension ItemPath {
    fileprivate func isBelow(anyOf folders: Set<ItemPath>) -> Bool {
        var folder = self
        while !folder.isRoot {
            folder = folder.parent
            if folders.contains(folder) { return true }
        }
        return false
    }
}

extension DatabaseReads {
    /// What scans leave for later.
    public var scan: ScanTable<Self> { ScanTable(access: self) }
}
