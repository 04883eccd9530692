/// A calendar, as a loop cached it.
public struct CachedCalendar: Hashable, Sendable {
    public var key: RecordKey
    /// What its owner calls it; nil: the server did not say.
    public var name: String?
    /// Its path on the server, as the server writes it.
    public var href: String
    /// How many of its objects are here.
    public var objects: Int
    /// How far its loop has come.
    public var eventID: EventID?

    public init(key: RecordKey, name: String?, href: String, objects: Int, eventID: EventID?) {
        self.key = key
        self.name = name
        self.href = href
        self.objects = objects
        self.eventID = eventID
    }
}

/// An event, a task or a journal entry of a calendar, as a loop cached it. Times are as its loop wrote them.
public struct CachedCalendarObject: Hashable, Sendable {
    public var key: RecordKey
    /// The server's ETag.
    public var version: String
    public var uid: String?
    /// `VEVENT`, `VTODO`, `VJOURNAL`.
    public var component: String?
    public var summary: String?
    public var start: String?
    public var end: String?
    /// The recurrence rule (RFC 5545 §3.3.10); nil: it does not repeat.
    public var rule: String?
    /// iCalendar, as the server sent it; nil: not asked for.
    public var content: [UInt8]?

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
