public import Model

/// A record as the sync engine's journal holds it: with what the engine alone needs to go on after a stop.
public struct JournalRecord: Hashable, Sendable {
    public var record: SyncRecord
    /// How often new metadata was waited for.
    public var rounds: Int
    /// A download that is complete and on its way into the tree.
    public var landing: Landing?
    /// The changed file that a person has agreed to lose to this download, by its looks when that was agreed.
    public var overwrites: FileMark?
    /// Whether it is dropped when the policies of who asked no longer cover the item.
    public var whileCovered: Bool

    public init(
        _ record: SyncRecord, rounds: Int = 0, landing: Landing? = nil, overwrites: FileMark? = nil,
        whileCovered: Bool = false
    ) {
        self.record = record
        self.rounds = rounds
        self.landing = landing
        self.overwrites = overwrites
        self.whileCovered = whileCovered
    }

    public var id: Int64 { record.id }
}

/// What is known of a complete download before it is put in place, so that its file is known again after a crash.
public struct Landing: Hashable, Sendable {
    /// The version whose bytes these are.
    public var etag: ETag
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]
    /// In bytes.
    public var size: Int64
    /// The server's modification time, which the copy gets.
    public var modified: Timestamp?

    public init(etag: ETag, digest: [UInt8], size: Int64, modified: Timestamp?) {
        self.etag = etag
        self.digest = digest
        self.size = size
        self.modified = modified
    }
}

/// Made once: they are looked up by their text, for each record.
enum SyncRecordQuery {
    static let withID = select("WHERE id = ?")
    static let withKey = select("WHERE reason = ? AND key = ?")
    static let ofItem = select("WHERE localID = ? ORDER BY id")
    static let after = select("WHERE id > ? ORDER BY id")
    static let removalsAfter = select(
        "INDEXED BY syncRecords_removals WHERE action <> 'download' AND id > ? ORDER BY id")
    static let landing = select("WHERE landingDigest IS NOT NULL ORDER BY id")

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
