import LarderSDK

/// A response of a calendar home's listing.
struct CalendarListing {
    static let properties = [
        "{DAV:}resourcetype", "{DAV:}displayname", "{DAV:}sync-token", "{http://calendarserver.org/ns/}getctag",
        "{DAV:}supported-report-set", "{urn:ietf:params:xml:ns:caldav}supported-calendar-component-set",
        "{DAV:}current-user-privilege-set", "{http://apple.com/ns/ical/}calendar-color",
        "{http://nextcloud.com/ns}deleted-at", "{DAV:}quota-used-bytes", "{DAV:}quota-available-bytes",
    ]

    /// With a slash at its end.
    let path: String
    private let values: [String?]

    init(_ response: DAVResponse) {
        path = response.href.asFolder
        values = response.values
    }

    var quota: Quota? {
        let quota = Quota(used: values[9].flatMap { Int64($0) }, available: values[10].flatMap { Int64($0) })
        return quota.used == nil && quota.available == nil ? nil : quota
    }

    /// The calendar's record; nil if it is none whose objects are to be kept: a folder, a box for invitations, somebody's feed that the
    /// server only names, or one in the server's trash bin.
    var record: Record? {
        let types = lines(0)
        guard types.contains("{urn:ietf:params:xml:ns:caldav}calendar") else { return nil }
        let others = [
            "{urn:ietf:params:xml:ns:caldav}schedule-inbox", "{urn:ietf:params:xml:ns:caldav}schedule-outbox",
            "{http://calendarserver.org/ns/}subscribed", "{http://nextcloud.com/ns}trash-bin",
            "{http://nextcloud.com/ns}deleted-calendar",
        ]
        guard !types.contains(where: others.contains), (values[8] ?? "").isEmpty else { return nil }
        let components = lines(5).compactMap { $0.after("{urn:ietf:params:xml:ns:caldav}comp ") }
        // None named: of all kinds.
        guard components.isEmpty || components.contains(where: ["VEVENT", "VTODO", "VJOURNAL"].contains) else {
            return nil
        }
        let reports = lines(4)
        let token = values[2].flatMap { $0.isEmpty ? nil : $0 }
        let ctag = values[3].flatMap { $0.isEmpty ? nil : $0 }
        let value = JSON.object(of: [
            "name": .string(name.clipped), "href": .string(path),
            "components": .array(components.map { .string($0.clipped) }), "syncToken": token.map { .string($0) },
            "ctag": ctag.map { .string($0) },
            "supportsSync": .boolean(reports.isEmpty ? token != nil : reports.contains("{DAV:}sync-collection")),
            "color": values[7].flatMap { $0.isEmpty ? nil : .string($0.clipped) },
            "privileges": .array(lines(6).map { .string($0.after("{DAV:}") ?? $0) }),
        ])
        return Record(key: path, version: (ctag ?? token ?? "").clipped, value: value.text)
    }

    private var name: String {
        if let name = values[1], !name.isEmpty { return name }
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    private func lines(_ index: Int) -> [String] {
        (values[index] ?? "").split(separator: "\n").map(String.init)
    }
}

extension String {
    fileprivate func after(_ prefix: String) -> String? {
        utf8.starts(with: prefix.utf8) ? String(dropFirst(prefix.count)) : nil
    }
}
