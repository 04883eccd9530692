public import Model

/// A folder that a scan has still to list.
public struct ScanJob: Hashable, Sendable {
    /// The folder's path.
    public var path: ItemPath
    /// Whether everything below the folder is listed, whatever the ETags are.
    public var isWhole: Bool

    /// Creates a job.
    public init(path: ItemPath, isWhole: Bool) {
        self.path = path
        self.isWhole = isWhole
    }
}

/// The state that scans leave for later: the folders still to be listed, the items that were missing in their folder's
/// listing and are not yet decided about, and the memory of the guard against mass removal.
///
/// If another item displaces a missing item at its path, the missing item is out of the item list at once: its row, and
/// each row below it, is flagged as removed and counts as missing. The rows below any other missing folder are not
/// flagged.
public struct ScanTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the folder at a path. For a file, or an unknown path, this is the nearest known folder above it.
    public func nearestFolder(to path: ItemPath) throws -> ItemPath {
        var folder = path
        while !folder.isRoot {
            if let row = try access.items.scanRow(at: folder), row.kind == .folder, row.removedAt == nil { break }
            folder = folder.parent
        }
        return folder
    }

    /// Returns the folders that are still to be listed, by their paths.
    public func jobs() throws -> [ScanJob] {
        try rows("SELECT path, whole FROM scanJobs ORDER BY path") {
            ScanJob(path: ItemPath(unchecked: $0.text(0) ?? ""), isWhole: $0.integer(1) == 1)
        }
    }

    /// Tells whether anything is missing.
    public func hasMissing() throws -> Bool { try exists("SELECT 1 FROM missingItems") }

    /// Tells whether this item itself is missing.
    public func isMissing(_ databaseID: ItemRowID) throws -> Bool {
        try exists("SELECT 1 FROM missingItems WHERE databaseID = ?", .id(databaseID))
    }

    /// Tells whether an item, or a folder above it, is missing and not yet decided about.
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

    /// Returns the number of missing items, including all items below missing folders, each counted once.
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

    /// Returns the paths of the first few missing items.
    public func firstMissing(_ limit: Int) throws -> [ItemPath] {
        try paths(
            "SELECT DISTINCT path FROM missingItems JOIN items USING (databaseID) ORDER BY path LIMIT ?",
            [.integer(Int64(limit))])
    }

    /// Returns the missing folders that are still in the item list.
    /// - Parameter parent: The folder whose own entries are returned; nil for all missing folders.
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

    // MARK: The guard's memory of the last 24 hours, to the minute
    // Two scans that each remove half of the items remove all of them.

    /// Tells whether a count of items is remembered.
    public func hasRemovalMemory() throws -> Bool { try exists("SELECT 1 FROM removalMemory WHERE known IS NOT NULL") }

    /// Returns the highest count of items in the 24 hours before a time, and how many items were removed in these
    /// hours, except those whose removal a person applied.
    public func removalMemory(at time: Timestamp) throws -> (known: Int, gone: Int) {
        let begin = SQLValue.integer(time.seconds / 60 - minutesOfDay)
        // A count is valid until the next count.
        let known = try integer(
            """
            SELECT max(known) FROM removalMemory WHERE minute >= coalesce(
              (SELECT max(minute) FROM removalMemory WHERE minute <= ?1 AND known IS NOT NULL), ?1)
            """, begin)
        let gone = try integer("SELECT sum(gone) FROM removalMemory WHERE minute > ?1", begin)
        return (Int(known ?? 0), Int(gone ?? 0))
    }

    /// Returns the issue that holds removals; nil if no removals are held.
    public func heldRemovals() throws -> Issue? {
        try access.issues.issue(code: HeldRemovals.code, subject: HeldRemovals.subject)
    }
}

/// The issue that holds removals when they are too many. Sync records wait with this issue.
public enum HeldRemovals {
    /// The issue's code.
    public static let code = "list.removals"
    /// The issue's subject. There is one issue for an account, for all missing items together.
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
    /// The state that scans leave for later.
    public var scan: ScanTable<Self> { ScanTable(access: self) }
}
