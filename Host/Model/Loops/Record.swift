/// An object that an event loop has cached: a calendar, an object in a calendar, or a share.
public struct Record: Hashable, Sendable {
    /// The key in the record's collection: a path or an id.
    public var key: RecordKey
    /// The server's version, such as an ETag or a digest. Empty if there is none.
    public var version: String
    /// The text of a JSON object for programs that read the record. Empty if there is nothing yet.
    public var value: String
    /// The content of the object, such as the bytes of an `.ics` file. Nil if there is none, or if it was not
    /// requested.
    public var content: [UInt8]?

    /// Creates a record.
    public init(key: RecordKey, version: String = "", value: String = "", content: [UInt8]? = nil) {
        self.key = key
        self.version = version
        self.value = value
        self.content = content
    }
}

/// The key of a record in its collection.
public struct RecordKey: CodableText {
    public let text: String
    /// Creates a key from its text.
    public init(_ text: String) { self.text = text }
}

/// A collection of records: `calendars`, `shares` or `account`. The objects that belong to one record lie in a
/// collection that is named after both: `calendars//ada/work/` contains the objects of the calendar `/ada/work/`, and
/// is removed together with that record.
public struct RecordCollection: ByteText {
    public let text: String
    /// Creates a collection from its name.
    public init(_ text: String) { self.text = text }

    /// The calendars.
    public static let calendars = RecordCollection("calendars")
    /// The shares.
    public static let shares = RecordCollection("shares")
    /// The account's own records.
    public static let account = RecordCollection("account")

    /// Whether the collection contains calendars or the objects of one calendar.
    public var isCalendars: Bool { self == .calendars || text.utf8.starts(with: "calendars/".utf8) }

    /// Whether the collection belongs to no record. The name of such a collection has no slash. Every other name
    /// belongs to one record only: the part before the first slash is the record's collection, the part behind the
    /// slash its key.
    public var isRoot: Bool { !text.utf8.contains(UInt8(ascii: "/")) }

    /// Returns the collection of the objects that belong to a record of this collection. This collection must be a
    /// root.
    public func of(_ key: RecordKey) -> RecordCollection { RecordCollection(text + "/" + key.text) }
}

/// A change of records that a loop requests.
public enum RecordChange: Hashable, Sendable {
    /// A record to put in the place of any record with its key.
    case put(Record, in: RecordCollection)
    /// A record to remove together with the collection of the objects that belong to it. The record need not exist.
    case remove(RecordKey, from: RecordCollection)
}

/// The parts of a record to read. The key is always read.
public struct RecordFields: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The version.
    public static let version = RecordFields(rawValue: 1)
    /// The value.
    public static let value = RecordFields(rawValue: 2)
    /// The content.
    public static let content = RecordFields(rawValue: 4)
    /// All parts.
    public static let all: RecordFields = [.version, .value, .content]
}
