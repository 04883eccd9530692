import LarderSDK

/// An events endpoint in plain JSON, in place of CalDAV and OCS. It reports additions, changes and removals, so nothing
/// is compared.
struct FeedSource {
    private let feed: EventFeed
    private let url: String

    init(_ http: Host.HTTP, url: String) {
        feed = EventFeed(http, url: url)
        self.url = url
    }

    func latest() throws(PluginError) -> String { try feed.latest("core/v4/events/latest") }

    /// Returns all calendars.
    /// - Throws: ``Status/failed`` if the endpoint does not list them, and what ``EventFeed/listing(_:of:)`` throws.
    func calendars(_ records: Host.Records) throws(PluginError) -> Found {
        let path = "calendar/v1"
        guard let listed = try feed.listing(path, of: "Calendars") else { throw feed.cannotList(path, "the calendars") }
        var found = Found(collection: "calendars", records: [], isAll: true)
        for calendar in listed where calendar.id.utf8.count <= 4096 {
            found.records.append(try self.calendar(calendar.id, [calendar.entity], records))
        }
        return found
    }

    /// Polls the endpoint.
    /// - Parameters:
    ///   - eventID: The position of the loop.
    ///   - records: The service.
    ///   - listShares: Lists the shares. It is called when the page says that the shares with the account changed.
    func poll(
        since eventID: String, _ records: Host.Records, _ listShares: () -> Outcome
    ) throws(PluginError) -> EventPage<Changes> {
        guard let page = try feed.page("core/v5/events", since: eventID) else {
            return EventPage(eventID: eventID, refresh: .everything, content: Changes())
        }
        var changes = Changes()
        var names: [String: JSON] = [:]
        for change in page.changes("CalendarMembers", entity: "Member") where !change.isDelete {
            if let member = change.entity, let id = member["CalendarID"]?.string { names[id] = member }
        }
        for change in page.changes("Calendars", entity: "Calendar") where change.id.utf8.count <= 4096 {
            if change.isDelete {
                changes.remove(change.id, from: "calendars")
            } else {
                let member = names.removeValue(forKey: change.id)
                try changes.put(calendar(change.id, [member, change.entity], records), in: "calendars")
            }
        }
        // New names and colours of known calendars.
        for (id, member) in names.sorted(by: { $0.key < $1.key }) {
            guard try records.record(id, in: "calendars", []) != nil else { continue }
            try changes.put(calendar(id, [member], records), in: "calendars")
        }
        try addAccount(page.json, &changes, records)
        if page.json["DriveShareRefresh"]?["Action"]?.integer == 2 { try changes.add(listShares(), records) }
        return EventPage(eventID: page.eventID, refresh: page.refresh, more: page.more, content: changes)
    }

    /// Returns a calendar's record, with the page's members over the known ones.
    private func calendar(_ id: String, _ entities: [JSON?], _ records: Host.Records) throws(PluginError) -> Record {
        let known = try records.record(id, in: "calendars", .value).map { record throws(PluginError) in
            try JSON(parsing: record.value)
        }
        func text(_ name: String, _ stored: String) -> JSON? {
            let told = entities.lazy.compactMap { $0?[name]?.plainText }.first
            return (told ?? known?[stored]?.string).map { .string($0) }
        }
        let value = JSON.object(of: [
            "name": text("Name", "name") ?? .string(id), "href": .string(id), "components": .array([]),
            "supportsSync": .boolean(false), "color": text("Color", "color"), "privileges": .array([]),
            "events": .string(url),
        ])
        return Record(key: id, value: value.text)
    }

    private func addAccount(_ page: JSON, _ changes: inout Changes, _ records: Host.Records) throws(PluginError) {
        guard page["User"] != nil || page["UsedSpace"] != nil else { return }
        let known = try records.record("account", in: "account", .value).map { record throws(PluginError) in
            try JSON(parsing: record.value)
        }
        let user = page["User"]
        let used = (page["UsedSpace"] ?? user?["UsedSpace"])?.wholeNumber ?? known?["quotaUsed"]?.integer
        let total = user?["MaxSpace"]?.wholeNumber ?? known?["quota"]?.integer
        let value = JSON.object(of: [
            "id": (user?["ID"]?.plainText ?? known?["id"]?.string).map { .string($0) },
            "displayName": ((user?["DisplayName"] ?? user?["Name"])?.plainText ?? known?["displayName"]?.string).map {
                .string($0)
            },
            "email": (user?["Email"]?.plainText ?? known?["email"]?.string).map { .string($0) },
            "quota": total.map { .integer($0) }, "quotaUsed": used.map { .integer($0) },
            "quotaAvailable": total.flatMap { total in used.map { .integer(max(0, total &- $0)) } },
        ])
        changes.put(Record(key: "account", value: value.text), in: "account")
    }
}
