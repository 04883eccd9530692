/// A thing that an event loop cached: a calendar, an object in it, a share.
public struct Record: Hashable, Sendable {
    /// In its collection: a path, an id.
    public var key: RecordKey
    /// The server's, such as an ETag or a digest; empty: none.
    public var version: String
    /// What programs read of it: a JSON object's text. Empty: nothing yet.
    public var value: String
    /// The thing itself, such as an `.ics` file's bytes; nil: none, or not asked for.
    public var content: [UInt8]?

    public init(key: RecordKey, version: String = "", value: String = "", content: [UInt8]? = nil) {
        self.key = key
        self.version = version
        self.value = value
        self.content = content
    }
}

/// The key of a record in its collection.
public struct RecordKey: ByteText {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// Where records lie: `calendars`, `shares`, `account`. What belongs to one record lies in a collection that is named after both:
/// `calendars//ada/work/` holds the objects of the calendar `/ada/work/`, and goes when that record goes.
public struct RecordCollection: ByteText {
    public let text: String
    public init(_ text: String) { self.text = text }

    public static let calendars = RecordCollection("calendars")
    public static let shares = RecordCollection("shares")
    public static let account = RecordCollection("account")

    /// Whether it holds calendars or what is in one.
    public var isCalendars: Bool { self == .calendars || text.utf8.starts(with: "calendars/".utf8) }

    /// Whether its name is no record's too. Such a name has no slash, so that each other one belongs to one record only: what is in front of
    /// the first slash is its collection, what is behind that its key.
    public var isRoot: Bool { !text.utf8.contains(UInt8(ascii: "/")) }

    /// The collection of what belongs to a record of this one, which is a root.
    public func of(_ key: RecordKey) -> RecordCollection { RecordCollection(text + "/" + key.text) }
}

/// What a loop asks for.
public enum RecordChange: Hashable, Sendable {
    /// Puts a record in place of any with its key.
    case put(Record, in: RecordCollection)
    /// Removes a record and the collection of what belongs to it. One that is not there is fine.
    case remove(RecordKey, from: RecordCollection)
}

/// Which parts of a record are to be read; the key always is.
public struct RecordFields: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let version = RecordFields(rawValue: 1)
    public static let value = RecordFields(rawValue: 2)
    public static let content = RecordFields(rawValue: 4)
    public static let all: RecordFields = [.version, .value, .content]
}
