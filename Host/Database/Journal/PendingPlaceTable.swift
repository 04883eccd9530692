public import Model

/// The pending places that matter for the listing of one folder.
public struct FolderPlaces: Hashable, Sendable {
    /// Whether the folder itself is at or below a pending place: its listing says nothing new.
    public var isWithin = false
    /// The folder's own entries that are pending, with their changes. What comes and goes at one path counts as what
    /// comes: the row at the path is that of the newcomer.
    public var entries: [ItemPath: Set<PendingPlace.Change>] = [:]

    /// Creates places of which nothing is pending.
    public init() {}

    /// Whether nothing is pending.
    public var isEmpty: Bool { !isWithin && entries.isEmpty }

    /// Adds a place, if it matters for the folder.
    public mutating func add(_ place: PendingPlace, in folder: ItemPath) {
        if place.path.parent == folder, !place.path.isRoot {
            entries[place.path, default: []].insert(place.change)
        } else if !place.change.isOfProperty, place.path == folder || place.path.isAncestor(of: folder) {
            isWithin = true
        }
    }
}

/// The places on the server that records of the journal are about to change.
extension JournalTable {
    /// Tells whether any place is pending.
    public func hasPendingPlaces() throws -> Bool { try exists("SELECT 1 FROM pendingPlaces") }

    /// Returns the pending places that matter for a folder's listing.
    public func pendingPlaces(in folder: ItemPath) throws -> FolderPlaces {
        var places = FolderPlaces()
        guard try hasPendingPlaces() else { return places }
        let read: (RawStatement) -> PendingPlace? = { row in
            row.integer(1).flatMap { PendingPlace.Change(rawValue: Int($0)) }.map {
                PendingPlace(ItemPath(unchecked: row.text(0) ?? ""), $0)
            }
        }
        for place in try rows(
            "SELECT path, change FROM pendingPlaces WHERE parentPath = ?", [.path(folder)], read)
        {
            if let place { places.add(place, in: folder) }
        }
        var path = folder
        while !path.isRoot, !places.isWithin {
            for place in try rows("SELECT path, change FROM pendingPlaces WHERE path = ?", [.path(path)], read) {
                if let place { places.add(place, in: folder) }
            }
            path = path.parent
        }
        return places
    }

    /// Tells whether an item is at or below a path to which something is about to come.
    public func isArriving(_ path: ItemPath) throws -> Bool {
        guard try hasPendingPlaces() else { return false }
        var path = path
        while !path.isRoot {
            if try exists(
                "SELECT 1 FROM pendingPlaces WHERE path = ? AND change = \(PendingPlace.Change.arrives.sql)",
                .path(path))
            {
                return true
            }
            path = path.parent
        }
        return false
    }

    /// Returns the moves that are behind a record in the journal, in their order.
    /// - Throws: The errors of ``record(id:)``.
    public func moves(after id: SyncRecordID) throws -> [SyncRecord] {
        try records(SyncRecordQuery.movesAfter, [.id(id)])
    }

    /// Returns the records that change the server at a path or below it, or that take something from there, in their
    /// order.
    /// - Parameter id: The record after which the reading begins.
    /// - Throws: The errors of ``record(id:)``.
    public func changes(atOrBelow path: ItemPath, after id: SyncRecordID = .none) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try eachChange(atOrBelow: path, after: id) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Reads the records that ``changes(atOrBelow:after:)`` returns.
    /// - Parameters:
    ///   - path: The path.
    ///   - id: The record after which the reading begins.
    ///   - body: A function that receives each record and returns false to end early.
    /// - Throws: What `body` throws, and the errors of ``record(id:)``.
    public func eachChange(
        atOrBelow path: ItemPath, after id: SyncRecordID = .none, _ body: (SyncRecord) throws -> Bool
    ) throws {
        let bounds = [SQLValue.path(path)] + ItemSQL.range(below: path)
        try each(SyncRecordQuery.changesWithin, [.id(id)] + bounds + bounds, body)
    }

    /// Returns the records that change a folder above a path on the server, or that take it from there, the nearest
    /// folder's first.
    /// - Parameter id: The record after which the reading begins.
    /// - Throws: The errors of ``record(id:)``.
    public func changes(above path: ItemPath, after id: SyncRecordID = .none) throws -> [SyncRecord] {
        var found: [SyncRecord] = []
        var folder = path.parent
        while !folder.isRoot {
            found += try records(SyncRecordQuery.changesAt, [.id(id), .path(folder), .path(folder)])
            folder = folder.parent
        }
        return found
    }

    /// Returns the records that change the server and were added before another one, in their order.
    /// - Throws: The errors of ``record(id:)``.
    public func changes(before id: SyncRecordID) throws -> [SyncRecord] {
        try records(SyncRecordQuery.changesBefore, [.id(id)])
    }

    /// Returns the records that change the server and were added after another one, in their order.
    /// - Throws: The errors of ``record(id:)``.
    public func changes(after id: SyncRecordID) throws -> [SyncRecord] {
        try records(SyncRecordQuery.changesAfter, [.id(id)])
    }

    /// Returns the number of records that change the server.
    public func changeCount() throws -> Int {
        Int(try integer("SELECT count(*) FROM syncRecords WHERE \(SyncRecordQuery.changesServer)") ?? 0)
    }

    /// Returns the names of the snapshots of all uploads.
    public func snapshots() throws -> Set<String> {
        Set(try rows(SyncRecordQuery.snapshots) { $0.text(0) ?? "" })
    }

    func records(_ sql: String, _ arguments: [SQLValue]) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(sql, arguments) { record in
            records.append(record)
            return true
        }
        return records
    }
}

extension JournalTable where Access == Transaction {
    /// Stores the places of a record.
    func insertPlaces(of record: SyncRecord) throws {
        for place in record.places {
            try run(
                "INSERT INTO pendingPlaces (record, change, path, parentPath) VALUES (?, ?, ?, ?)", .id(record.id),
                .number(of: place.change), .path(place.path), .path(place.path.parent))
        }
    }

    func hasPlaces(_ id: SyncRecordID) throws -> Bool {
        try exists("SELECT 1 FROM pendingPlaces WHERE record = ?", .id(id))
    }

    /// Deletes the places of a record.
    func deletePlaces(of id: SyncRecordID) throws {
        try run("DELETE FROM pendingPlaces WHERE record = ?", .id(id))
    }

    /// Changes the places and the second paths of records at and below a folder after the folder has moved.
    /// - Parameter condition: An SQL term for the records that are concerned, and its arguments.
    func movePlaces(
        from old: ItemPath, to new: ItemPath, ofRecords condition: (sql: String, arguments: [SQLValue])
    ) throws {
        guard try hasPendingPlaces() else { return }
        let (path, parent, other) = (
            MovedPath(from: old, to: new, column: "path"), MovedPath(from: old, to: new, column: "parentPath"),
            MovedPath(from: old, to: new, column: "otherPath")
        )
        try run(
            """
            UPDATE pendingPlaces SET path = \(path.sql),
              parentPath = CASE WHEN parentPath = ? THEN ? ELSE \(parent.sql) END
            WHERE \(ItemSQL.isInRange) AND record IN (SELECT id FROM syncRecords WHERE \(condition.sql))
            """,
            path.arguments + [.path(old), .path(new)] + parent.arguments + ItemSQL.range(below: old)
                + condition.arguments)
        try run(
            """
            UPDATE syncRecords SET otherPath = \(other.sql)
            WHERE otherPath >= ? AND otherPath < ? AND \(condition.sql)
            """, other.arguments + ItemSQL.range(below: old) + condition.arguments)
    }
}
