/// The properties of the resources that the calendar service serves.
package struct CalendarProperties: Sendable {
    /// A resource with properties.
    package enum Resource: Sendable {
        case principal
        case calendar(Calendar)
        case object(Calendar.Object)
        case collection(Collection)
    }

    /// A collection that is not an ordinary calendar, described by its types and name.
    package struct Collection: Sendable {
        /// The last part of the collection's path.
        let id: String
        let types: [XMLName]
        let name: String?

        package init(_ id: String, _ types: [XMLName] = [], name: String? = nil) {
            (self.id, self.types, self.name) = (id, types, name)
        }
    }

    let request: CalendarRequest
    let behavior: any CalendarBehavior
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

    /// Adds a resource with the wanted properties that it has. If `wanted` is nil, all properties are wanted, and
    /// missing ones are not named.
    package func add(_ resource: Resource, _ target: String, _ wanted: [XMLName]?, to multistatus: inout Multistatus) {
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

    /// Returns a property's content as XML; nil if the resource lacks the property.
    private func value(_ name: XMLName, _ resource: Resource) -> String? {
        switch (name, resource) {
        case (.dav("resourcetype"), _): types(of: resource).map { writer.element($0) }.joined()
        case (.dav("current-user-principal"), _), (.dav("principal-URL"), .principal), (.dav("owner"), .calendar):
            href(.principal(user))
        case (.dav("displayname"), .principal): XMLWriter.escaped(user)
        case (.dav("displayname"), .calendar(let calendar)): calendar.name.map(XMLWriter.escaped)
        case (.dav("displayname"), .collection(let collection)): collection.name.map(XMLWriter.escaped)
        case (.caldav("calendar-home-set"), .principal): homes.map { href(.home($0)) }.joined()
        case (.dav("supported-report-set"), .calendar(let calendar)):
            reports(of: calendar).map {
                writer.element(.dav("supported-report"), writer.element(.dav("report"), writer.element($0)))
            }.joined()
        case (.dav("sync-token"), .calendar(let calendar)):
            behavior.syncToken(of: calendar).map(XMLWriter.escaped)
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
        case .principal: [.dav("principal")]
        case .calendar: [.dav("collection"), .caldav("calendar")]
        case .object: []
        case .collection(let collection): [.dav("collection")] + collection.types
        }
    }

    private func reports(of calendar: Calendar) -> [XMLName] {
        [.caldav("calendar-multiget")] + (behavior.syncToken(of: calendar) == nil ? [] : [.dav("sync-collection")])
    }

    private func href(_ target: CalendarTarget) -> String {
        writer.text(.dav("href"), behavior.address(of: target, in: request))
    }
}
