/// A `sync-collection` request (RFC 6578, section 3.2).
package struct CalendarSync: Sendable {
    package let calendar: Calendar
    /// The client's position in the calendar's history; empty at the beginning.
    package let token: String
    /// The highest number of results that the request wants.
    package let limit: Int?
    package let wanted: [XMLName]
    package let service: CalendarService
    package let properties: CalendarProperties

    private static let tokenPrefix = "http://sabre.io/ns/sync/"

    /// Reads a request; nil if the request does not conform to the RFC.
    init?(of calendar: Calendar, _ root: XMLElement, _ request: CalendarRequest, _ service: CalendarService) {
        let known: [XMLName] = [.dav("sync-token"), .dav("sync-level"), .dav("limit"), .dav("prop")]
        guard [nil, "0"].contains(request.fields[named: "Depth"]),
            root.children.allSatisfy({ known.contains($0.name) }), let token = root.child(.dav("sync-token")),
            root.child(.dav("sync-level"))?.text == "1",
            let wanted = root.child(.dav("prop"))?.children.map(\.name)
        else { return nil }
        limit = root.child(.dav("limit"))?.child(.dav("nresults")).flatMap { Int($0.text) }
        (self.calendar, self.token, self.wanted, self.service) = (calendar, token.text, wanted, service)
        properties = service.properties(request)
    }

    /// Returns the token of a calendar after the change with this number.
    static func token(after number: Int) -> String { tokenPrefix + "\(number)" }

    /// Returns an answer with all changes after the token, whatever the limit. The token must be one of the calendar's.
    func answer() -> Answer {
        var members = calendar.objects.keys.sorted()
        if !token.isEmpty {
            guard token.hasPrefix(Self.tokenPrefix), let number = Int(token.dropFirst(Self.tokenPrefix.count)),
                (calendar.forgotten...calendar.version).contains(number)
            else { return CalendarService.refusal(403, .dav("valid-sync-token"), service.writer) }
            members = calendar.log.filter { $0.number > number }.reduce(into: []) { listed, change in
                if !listed.contains(change.object) { listed.append(change.object) }
            }
        }
        var multistatus = Multistatus(service)
        for name in members { add(name, to: &multistatus) }
        return multistatus.answer(token: Self.token(after: calendar.version))
    }

    /// Adds the current state of a member.
    package func add(_ name: String, removed: String = Multistatus.notFound, to multistatus: inout Multistatus) {
        if let object = calendar.objects[name] {
            properties.add(.object(object), calendar.path(name), wanted, to: &multistatus)
        } else {
            multistatus.add(calendar.path(name), status: removed)
        }
    }
}
