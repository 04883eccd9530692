import Model

/// The queries' texts, built once, since each record's read uses them as keys of the statement cache.
enum SyncRecordQuery {
    static let withID = select("WHERE id = ?")
    static let withIDs = select("WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id")
    static let withKey = select("WHERE reason = ? AND key = ?")
    static let ofItem = select("WHERE localID = ? ORDER BY id")
    static let waitingForIssue = select("WHERE waitIssue = ? ORDER BY id")
    static let after = select("WHERE id > ? ORDER BY id")
    static let removalsAfter = select("INDEXED BY syncRecords_removals WHERE \(isRemoval) AND id > ? ORDER BY id")
    static let landing = select("WHERE landingDigest IS NOT NULL ORDER BY id")

    /// The term of the index of removals.
    static let isRemoval: String = {
        let kinds = SyncRecord.Action.Kind.allCases.filter(\.isRemoval)
        return "action IN (\(kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
    }()

    /// Whether a record changes the server, by the index of such records.
    static let changesServer: String = {
        let kinds = SyncRecord.Action.Kind.allCases.filter(\.changesServer)
        return "action IN (\(kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
    }()
    static let movesAfter = select(
        "WHERE \(changesServer) AND action = '\(SyncRecord.Action.Kind.move.rawValue)' AND id > ? ORDER BY id")
    static let snapshots = """
        SELECT json_extract(parameters, '$.snapshot') FROM syncRecords
        WHERE \(changesServer) AND action = '\(SyncRecord.Action.Kind.upload.rawValue)'
        """
    static let changesAfter = select("WHERE \(changesServer) AND id > ? ORDER BY id")
    static let changesBefore = select("WHERE \(changesServer) AND id < ? ORDER BY id")
    static let changesWithin = select(
        """
        WHERE \(changesServer) AND id > ? AND (path = ? OR (path >= ? AND path < ?)
          OR otherPath = ? OR (otherPath >= ? AND otherPath < ?)) ORDER BY id
        """)

    static let changesAt = select(
        "WHERE \(changesServer) AND id > ? AND (path = ? OR otherPath = ?) ORDER BY id")

    private static func select(_ rest: String) -> String {
        "SELECT \(SyncRecordColumns.selection) FROM syncRecords \(rest)"
    }
}

enum JournalSQL {
    static let insertion: String = {
        let places = SyncRecordColumns.written.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO syncRecords (\(SyncRecordColumns.written.joined(separator: ", "))) VALUES (\(places))"
    }()

    static let replacement: String = {
        let columns = SyncRecordColumns.written.map { "\($0) = ?" }.joined(separator: ", ")
        return "UPDATE syncRecords SET \(columns) WHERE id = ?"
    }()
}

typealias State = SyncRecord.State
