import LarderSDK

/// A response in the listing of a calendar home.
struct CalendarListing {
    /// The properties that show changes in a calendar. Some servers go through all objects of a calendar to compute
    /// them.
    enum Marks: Int {
        /// No property: a new calendar is fetched in any case.
        case none
        case tokens, tokensAndCtags

        /// Chooses the properties that are enough for the known calendars.
        init(known records: Host.Records) throws(PluginError) {
            self = .none
            var known = try records.all(in: "calendars", .value)
            while let record = try known.next() {
                self = .tokens
                let value = record.value.isEmpty ? nil : try JSON(parsing: record.value)
                guard value?["supportsSync"]?.boolean == true, value?["syncToken"] != nil else {
                    self = .tokensAndCtags
                    return
                }
            }
        }

        var properties: ArraySlice<String> { CalendarListing.properties.dropLast(2 - rawValue) }
    }

    private static let properties = [
        "{DAV:}resourcetype", "{DAV:}displayname", "{DAV:}supported-report-set",
        "{urn:ietf:params:xml:ns:caldav}supported-calendar-component-set", "{DAV:}current-user-privilege-set",
        "{http://apple.com/ns/ical/}calendar-color", "{http://nextcloud.com/ns}deleted-at", "{DAV:}quota-used-bytes",
        "{DAV:}quota-available-bytes", "{DAV:}resource-id", "{DAV:}creationdate", "{DAV:}sync-token",
        "{http://calendarserver.org/ns/}getctag",
    ]

    /// The calendar's path with a closing slash.
    let path: String
    private let values: [String?]

    init(_ response: DAVResponse) {
        path = response.href.asFolder
        values = response.values
    }

    var quota: Quota? {
        let quota = Quota(used: values[7].flatMap { Int64($0) }, available: values[8].flatMap { Int64($0) })
        return quota.used == nil && quota.available == nil ? nil : quota
    }

    /// The calendar's record. Nil if its objects are not to be kept: it is a folder, a box for invitations, a feed that
    /// the server only names, or a calendar in the server's trash bin.
    var record: Record? {
        let types = lines(0)
        guard types.contains("{urn:ietf:params:xml:ns:caldav}calendar") else { return nil }
        let others = [
            "{urn:ietf:params:xml:ns:caldav}schedule-inbox", "{urn:ietf:params:xml:ns:caldav}schedule-outbox",
            "{http://calendarserver.org/ns/}subscribed", "{http://nextcloud.com/ns}trash-bin",
            "{http://nextcloud.com/ns}deleted-calendar",
        ]
        guard !types.contains(where: others.contains), (values[6] ?? "").isEmpty else { return nil }
        let components = lines(3).compactMap { $0.after("{urn:ietf:params:xml:ns:caldav}comp ") }
        // A calendar that names no component takes all of them.
        guard components.isEmpty || components.contains(where: ["VEVENT", "VTODO", "VJOURNAL"].contains) else {
            return nil
        }
        let reports = lines(2)
        let (token, ctag) = (text(11), text(12))
        // If no requested property can tell, the loop tries the report.
        let hasToken = token != nil || values.count <= 11
        let supportsSync = reports.isEmpty ? hasToken : reports.contains("{DAV:}sync-collection")
        // One of the two is enough. The other would count as a change when it is no longer requested.
        let isTokenEnough = supportsSync && token != nil
        let value = JSON.object(of: [
            "name": .string(name.clipped), "href": .string(path),
            "components": .array(components.map { .string($0.clipped) }), "syncToken": token.map { .string($0) },
            "ctag": isTokenEnough ? nil : ctag.map { .string($0) }, "supportsSync": .boolean(supportsSync),
            "identity": (text(9) ?? text(10)).map { .string($0.clipped) }, "color": text(5).map { .string($0.clipped) },
            "privileges": .array(lines(4).map { .string($0.after("{DAV:}") ?? $0) }),
        ])
        return Record(key: path, version: ((isTokenEnough ? token : ctag ?? token) ?? "").clipped, value: value.text)
    }

    /// Returns a property's text. Nil: the property is absent, empty, or was not requested.
    private func text(_ index: Int) -> String? {
        values.count > index ? values[index].flatMap { $0.isEmpty ? nil : $0 } : nil
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
