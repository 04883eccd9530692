/// The properties of what the calendar service serves.
struct CalendarProperties: Sendable {
    /// What has properties.
    enum Resource: Sendable {
        case root
        case principal
        case home
        case calendar(Calendar)
        case object(Calendar.Object)
        /// A collection that is no calendar to work with, by its types and name.
        case other([XMLName], name: String?)
    }

    let request: CalendarRequest
    let manner: CalendarManner
    let writer: XMLWriter
    let user: String
    /// The last parts of the homes' paths.
    let homes: [String]

    static let all: [XMLName] = [
        .dav("resourcetype"), .dav("displayname"), .dav("getetag"), .dav("getcontenttype"), .dav("getcontentlength"),
        .dav("current-user-principal"), .dav("principal-URL"), .dav("owner"), .dav("sync-token"),
        .dav("supported-report-set"), .dav("current-user-privilege-set"), .caldav("calendar-home-set"),
        .caldav("supported-calendar-component-set"), .calendarServer("getctag"),
    ]

    /// Adds a resource with what it has of the wanted properties; nil wants all, and names none that is missing.
    func add(_ resource: Resource, _ target: String, _ wanted: [XMLName]?, to multistatus: inout Multistatus) {
        var found: [String] = []
        var missing: [XMLName] = []
        for name in wanted ?? Self.all {
            if let value = value(name, resource) {
                found.append(writer.element(name, value))
            } else if wanted != nil {
                missing.append(name)
            }
        }
        multistatus.add(target, found: found, missing: missing)
    }

    /// A property's content, written; nil if the resource has none.
    private func value(_ name: XMLName, _ resource: Resource) -> String? {
        switch (name, resource) {
        case (.dav("resourcetype"), _): types(of: resource).map { writer.element($0) }.joined()
        case (.dav("current-user-principal"), _), (.dav("principal-URL"), .principal), (.dav("owner"), .calendar):
            href(.principal(user))
        case (.dav("displayname"), .principal): XMLWriter.escaped(user)
        case (.dav("displayname"), .calendar(let calendar)): calendar.name.map(XMLWriter.escaped)
        case (.dav("displayname"), .other(_, let name)): name.map(XMLWriter.escaped)
        case (.caldav("calendar-home-set"), .principal): homes.map { href(.home($0)) }.joined()
        case (.dav("supported-report-set"), .calendar):
            reports.map {
                writer.element(.dav("supported-report"), writer.element(.dav("report"), writer.element($0)))
            }.joined()
        case (.dav("sync-token"), .calendar(let calendar)) where manner.syncCollection:
            XMLWriter.escaped(SyncToken.text(after: calendar.version, form: manner.tokens))
        case (.calendarServer("getctag"), .calendar(let calendar)): "\(calendar.version)"
        case (.caldav("supported-calendar-component-set"), .calendar(let calendar)):
            calendar.components.map {
                writer.element(.caldav("comp"), attributes: " name=\"\(XMLWriter.escaped($0))\"")
            }.joined()
        case (.dav("current-user-privilege-set"), .calendar(let calendar)):
            (calendar.isReadOnly ? ["read"] : ["read", "write", "write-content", "bind", "unbind"]).map {
                writer.element(.dav("privilege"), writer.element(.dav($0)))
            }.joined()
        case (.dav("getetag"), .object(let object)): XMLWriter.escaped(object.etag)
        case (.dav("getcontenttype"), .object): "text/calendar; charset=utf-8"
        case (.dav("getcontentlength"), .object(let object)): "\(object.text.utf8.count)"
        case (.caldav("calendar-data"), .object(let object)) where request.method == "REPORT":
            XMLWriter.escaped(object.text)
        default: nil
        }
    }

    private func types(of resource: Resource) -> [XMLName] {
        switch resource {
        case .root, .home: [.dav("collection")]
        case .principal: [.dav("principal")]
        case .calendar: [.dav("collection"), .caldav("calendar")]
        case .object: []
        case .other(let types, _): [.dav("collection")] + types
        }
    }

    private var reports: [XMLName] {
        [.caldav("calendar-multiget")] + (manner.syncCollection ? [.dav("sync-collection")] : [])
    }

    private func href(_ target: CalendarTarget) -> String {
        let address =
            switch manner.addresses {
            case .path: target.path
            case .whole: request.origin + target.path
            case .relative:
                // As many steps up as the request's path has folders.
                String(repeating: "../", count: request.path.utf8.dropFirst().count { $0 == UInt8(ascii: "/") })
                    + target.path.dropFirst()
            }
        return writer.text(.dav("href"), address)
    }
}
