/// A calendar that a loop has cached.
public struct CachedCalendar: Hashable, Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case key = "id"
        case name, href, objects, eventID
    }

    /// The key of the calendar's record.
    public var key: RecordKey
    /// The name that the owner gave the calendar, or nil if the server did not report one.
    public var name: String?
    /// The calendar's path on the server, as the server writes it.
    public var href: String
    /// The number of the calendar's objects that are cached.
    public var objects: Int
    /// The event id that the calendar's loop has reached.
    public var eventID: EventID?

    /// Creates a cached calendar.
    public init(key: RecordKey, name: String?, href: String, objects: Int, eventID: EventID?) {
        self.key = key
        self.name = name
        self.href = href
        self.objects = objects
        self.eventID = eventID
    }
}

/// An event, a task or a journal entry of a calendar that a loop has cached. Times are written as the loop wrote them.
public struct CachedCalendarObject: Hashable, Sendable {
    /// The key of the object's record.
    public var key: RecordKey
    /// The server's ETag.
    public var version: String
    /// The object's UID.
    public var uid: String?
    /// The kind of component: `VEVENT`, `VTODO` or `VJOURNAL`.
    public var component: String?
    /// The summary.
    public var summary: String?
    /// The start.
    public var start: String?
    /// The end.
    public var end: String?
    /// The recurrence rule (RFC 5545 §3.3.10), or nil if the object does not repeat.
    public var rule: String?
    /// The object as iCalendar text, as the server sent it, or nil if the content was not requested.
    public var content: [UInt8]?

    /// Creates a cached object.
    public init(
        key: RecordKey, version: String, uid: String?, component: String?, summary: String?, start: String?,
        end: String?,
        rule: String?, content: [UInt8]?
    ) {
        self.key = key
        self.version = version
        self.uid = uid
        self.component = component
        self.summary = summary
        self.start = start
        self.end = end
        self.rule = rule
        self.content = content
    }
}
