public import LarderSDK

/// Keeps the objects of each calendar as records. It asks for changes each time, and compares the records with the
/// whole listing once a day, since some servers lose changes.
struct CalendarLoop: EventLoop {
    static let description = PluginDescription(
        id: "org.larder.calendar-loop", name: "Calendar loop", version: "0.1.0", vendor: "Larder",
        summary: "Keeps the events and tasks of the account's calendars",
        required: [.config, .records, .dav, .http, .values, .clock], wanted: [.log])
    static let kind = "calendar"
    static let collection: String? = "calendars"
    static let settingsSchema: String? = """
        {"properties": {
        "events": {"type": "object", "description": "asks an events endpoint in plain JSON in place of CalDAV", \

        "properties": {"url": {"type": "string", "description": "its address, at the account's server: a path or a \
        whole address; default: the core loop's"}}}}}
        """

    /// The changes of a turn.
    struct Content {
        var records: [Record] = []
        var gone: [String] = []
        /// Whether the records agree with the whole listing after this page.
        var isComparison = false
    }

    let records: Host.Records
    let dav: Host.DAV
    let http: Host.HTTP
    let values: Host.Values
    let clock: Host.Clock
    let log: Host.Log?
    /// The times at which each calendar itself was last asked, not only looked up in the core loop's listing.
    private var asked: [String: Int64] = [:]
    /// The times at which each calendar was last polled.
    private var seen: [String: Int64] = [:]
    /// The calendars that may have been deleted and created anew since their records were compared with their listing.
    var doubted: Set<String> = []
    /// The calendars whose changes the server does not report, as the log has said since the loop began.
    var named: Set<String> = []
    /// The backlogs by calendar.
    var backlogs: [String: Backlog] = [:]
    private let events: String?

    init(host: Host) throws(PluginError) {
        records = try host.require(host.records, .records)
        dav = try host.require(host.dav, .dav)
        http = try host.require(host.http, .http)
        values = try host.require(host.values, .values)
        clock = try host.require(host.clock, .clock)
        log = host.log
        events = try host.settings()["events"]?["url"]?.string
    }

    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Content> {
        let calendar = try Calendar(loop, records)
        if let feed = feed(calendar) { return try feed.poll(loop, since: eventID) }
        let memory = try Memory(of: loop, in: values)
        if let known = memory.identity, let identity = calendar.identity, identity != known {
            log?.warning("the calendar \(loop) was replaced by another one at the same address: all of it is listed")
            return EventPage(eventID: eventID, refresh: .everything, content: Content())
        }
        let position = Position(eventID)
        try doubt(loop, calendar, position)
        var page = try next(loop, calendar, memory, position, eventID)
        guard page.refresh.isEmpty, !page.more, case .synced = Position(page.eventID), doubted.remove(loop) != nil
        else { return page }
        page.eventID = Position.comparing(page: 1, then: Position(page.eventID)).eventID
        page.more = true
        return page
    }

    /// Marks a calendar whose token may belong to another calendar. Where tokens are plain numbers and nothing
    /// identifies a calendar, the token of a deleted and newly created calendar may equal the loop's. While the
    /// calendar is polled, the core loop notices the deletion; otherwise the calendar is compared with its listing.
    private mutating func doubt(_ loop: String, _ calendar: Calendar, _ position: Position) throws(PluginError) {
        let now = try clock.monotonic()
        let quarter: Int64 = 900_000_000_000
        let isWatched = seen[loop].map { now - $0 < quarter } ?? false
        seen[loop] = now
        guard !isWatched, calendar.identity == nil, case .synced(let token) = position else { return }
        if Position.isNumber(token) { doubted.insert(loop) }
    }

    private mutating func next(
        _ loop: String, _ calendar: Calendar, _ memory: Memory, _ position: Position, _ eventID: String
    ) throws(PluginError) -> EventPage<Content> {
        let backlog = backlogs.removeValue(forKey: loop)
        if case .comparing(let number, let then) = position {
            guard let backlog, backlog.eventID.utf8.elementsEqual(eventID.utf8) else {
                return try compare(loop, page: number, then: then)
            }
            return try goOn(loop, with: backlog, page: number, then: then)
        }
        if try memory.isComparisonDue(at: clock.now() / 1_000_000_000) {
            return page(.comparing(page: 1, then: position), more: true)
        }
        switch position {
        case .synced(let token):
            if doubted.contains(loop), calendar.syncToken == token {
                return try compare(loop, page: 1, then: position)
            }
            if try !isWorthAsking(loop, calendar.syncToken, token) { return page(position) }
            return try delta(of: loop, calendar, since: token, wasStalled: false)
        case .stalled(let token):
            return try delta(of: loop, calendar, since: token, wasStalled: true)
        case .listed(let digest, let ctag):
            if try !isWorthAsking(loop, calendar.ctag, ctag) { return page(position) }
            // Objects without ETags do not show what has changed.
            let hasNews = calendar.ctag.map { !ctag.isEmpty && !$0.utf8.elementsEqual(ctag.utf8) } ?? false
            return try list(loop, calendar, digest, hasNews: hasNews)
        case .comparing: return page(position)
        }
    }

    mutating func process(_ page: EventPage<Content>, of loop: String) throws(PluginError) {
        try remove(page.content.gone, from: loop)
        for record in page.content.records { try records.put(record, in: Self.objects(of: loop)) }
        guard page.content.isComparison else { return }
        var memory = try Memory(of: loop, in: values)
        memory.compared = try clock.now() / 1_000_000_000
        if memory.identity == nil { memory.identity = try Calendar(loop, records).identity }
        try memory.keep(for: loop, in: values)
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        let calendar = try Calendar(loop, records)
        if let feed = feed(calendar) { return try fetch(loop, from: feed) }
        backlogs[loop] = nil
        doubted.remove(loop)
        seen[loop] = try clock.monotonic()
        var fetching = Fetching(exchange(loop))
        let (members, position): ([Member], Position)
        if calendar.supportsSync, let (listed, token) = try everything(of: loop, into: &fetching) {
            (members, position) = (listed, .synced(token))
        } else {
            members = try exchange(loop).listing()
            position = .listed(digest: members.digest, ctag: calendar.ctag ?? "")
        }
        var (content, next) = try differences(loop, members, by: &fetching, then: position, page: 0)
        try remove(content.gone, from: loop)
        for index in content.records.indices {
            try records.put(content.records[index], in: Self.objects(of: loop))
            // Frees the memory: the host has a copy, and a calendar may be large.
            content.records[index] = Record(key: "")
        }
        var memory = try Memory(of: loop, in: values)
        memory.compared = try clock.now() / 1_000_000_000
        memory.identity = calendar.identity
        memory.mismatch =
            if case .synced(let token) = position, calendar.syncToken != token { calendar.syncToken } else { nil }
        try memory.keep(for: loop, in: values)
        return Anchor(eventID: next.position.eventID, more: next.more)
    }

    /// Lists a calendar's objects at an events endpoint, and removes the records of objects that are gone.
    private func fetch(_ loop: String, from feed: CalendarFeed) throws(PluginError) -> Anchor {
        let anchor = try feed.latest(loop)
        let events = try feed.events(loop)
        let there = Set(events.map { Array($0.key.utf8) })
        var gone: [String] = []
        var known = try records.all(in: Self.objects(of: loop), [])
        while let record = try known.next() {
            if !there.contains(Array(record.key.utf8)) { gone.append(record.key) }
        }
        try remove(gone, from: loop)
        for event in events { try records.put(event, in: Self.objects(of: loop)) }
        return Anchor(eventID: anchor)
    }

    private func feed(_ calendar: Calendar) -> CalendarFeed? {
        (events ?? calendar.events).map { CalendarFeed(http, url: $0) }
    }

    private func remove(_ gone: [String], from loop: String) throws(PluginError) {
        for key in gone { try records.remove(key, from: Self.objects(of: loop)) }
    }

    static func objects(of loop: String) -> String { Host.Records.collection(of: loop, in: "calendars") }

    func exchange(_ loop: String) -> Exchange { Exchange(dav: dav, http: http, log: log, calendar: loop) }

    func page(_ position: Position, more: Bool = false, _ content: Content = Content()) -> EventPage<Content> {
        EventPage(eventID: position.eventID, more: more, content: content)
    }

    /// Tells whether the calendar itself must be asked: the core loop's listing, made just before, shows another token
    /// or none, or the loop has relied on the listing for some time.
    private mutating func isWorthAsking(_ loop: String, _ listed: String?, _ known: String) throws(PluginError) -> Bool
    {
        let now = try clock.monotonic()
        let quarter: Int64 = 900_000_000_000
        if let listed, listed.utf8.elementsEqual(known.utf8), let last = asked[loop], now - last < quarter {
            return false
        }
        asked[loop] = now
        return true
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(CalendarLoop.self, to: module)
}
