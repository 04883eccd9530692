import LarderSDK

/// An events endpoint in plain JSON that reports changes in calendars, in place of CalDAV.
struct CalendarFeed {
    private static let id = "CalendarModelEventID"
    private let feed: EventFeed

    init(_ http: Host.HTTP, url: String) { feed = EventFeed(http, url: url) }

    func latest(_ calendar: String) throws(PluginError) -> String {
        try feed.latest(Self.path(calendar) + "/latest", name: Self.id)
    }

    /// Returns all events of a calendar.
    /// - Throws: ``Status/failed`` if the endpoint does not list them, and what ``EventFeed/listing(_:of:)`` throws.
    func events(_ calendar: String) throws(PluginError) -> [Record] {
        let path = "calendar/v1/\(EventFeed.escaped(calendar))/events"
        guard let listed = try feed.listing(path, of: "Events") else {
            throw feed.cannotList(path, "the calendar \(calendar)")
        }
        // If several events have the same id, the last one counts.
        var events: [String: JSON] = [:]
        for event in listed where event.id.utf8.count <= 4096 { events[event.id] = event.entity }
        return events.sorted { $0.key < $1.key }.map { Self.record($0.key, $0.value) }
    }

    func poll(_ calendar: String, since eventID: String) throws(PluginError) -> EventPage<CalendarLoop.Content> {
        guard let page = try feed.page(Self.path(calendar), since: eventID, name: Self.id) else {
            return EventPage(eventID: eventID, refresh: .everything, content: .init())
        }
        var content = CalendarLoop.Content()
        // If several changes are about the same event, the last one counts.
        var told: [String: EventFeed.Change] = [:]
        for change in page.changes("CalendarEvents", entity: "Event") where change.id.utf8.count <= 4096 {
            told[change.id] = change
        }
        for (id, change) in told.sorted(by: { $0.key < $1.key }) {
            if change.isDelete {
                content.gone.append(id)
            } else if let event = change.entity {
                content.records.append(Self.record(id, event))
            }
        }
        return EventPage(eventID: page.eventID, refresh: page.refresh, more: page.more, content: content)
    }

    private static func path(_ calendar: String) -> String { "calendar/v1/\(EventFeed.escaped(calendar))/modelevents" }

    /// Makes a record with the event as iCalendar, as far as the endpoint describes it. Its times are in UTC, so that
    /// it needs no time zone.
    private static func record(_ id: String, _ event: JSON) -> Record {
        let isWholeDay = (event["FullDay"]?.integer ?? 0) != 0
        func time(_ property: String, _ name: String, isWholeDay: Bool) -> String? {
            guard let seconds = event[name]?.integer,
                let time = CalendarTime(secondsSince1970: seconds, isWholeDay: isWholeDay)
            else { return nil }
            return property + (isWholeDay ? ";VALUE=DATE:" : ":") + time.basicText
        }
        func text(_ property: String, _ name: String) -> String? {
            // A line break in the value would begin another property.
            event[name]?.string.flatMap { value in
                value.isEmpty || value.utf8.contains { $0 < 0x20 } ? nil : "\(property):\(value)"
            }
        }
        let lines = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Larder//Calendar loop//EN", "BEGIN:VEVENT",
            text("UID", "UID") ?? text("UID", "SharedEventID"),
            time("DTSTAMP", "ModifyTime", isWholeDay: false) ?? time("DTSTAMP", "CreateTime", isWholeDay: false),
            time("DTSTART", "StartTime", isWholeDay: isWholeDay), time("DTEND", "EndTime", isWholeDay: isWholeDay),
            time("RECURRENCE-ID", "RecurrenceID", isWholeDay: isWholeDay), text("RRULE", "RRule"),
            text("SUMMARY", "Summary"), "END:VEVENT", "END:VCALENDAR", "",
        ]
        let object = lines.compactMap(\.self).joined(separator: "\r\n")
        return Record(
            key: id, version: event["ModifyTime"]?.integer.map { "\($0)" } ?? "",
            value: Fetching.value(of: object.utf8.span), content: Array(object.utf8))
    }
}
