import HTTPTypes

/// The answer to a REPORT: `sync-collection` (RFC 6578, section 3.2) or `calendar-multiget` (RFC 4791, section 7.9).
struct CalendarReports: Sendable {
    let service: CalendarService
    let request: CalendarRequest

    func answer() -> Answer {
        guard let root = XMLElement(document: request.body) else { return Answer(.badRequest) }
        guard case .calendar(let home, let id) = request.target else {
            return CalendarService.refusal(415, .dav("supported-report"), service.writer)
        }
        guard let calendar = service.calendar(home: home, id: id) else { return Answer(.notFound) }
        switch root.name {
        case .caldav("calendar-multiget"): return multiget(calendar, root)
        case .dav("sync-collection") where service.behavior.syncToken(of: calendar) != nil:
            guard let sync = CalendarSync(of: calendar, root, request, service) else { return Answer(.badRequest) }
            return service.behavior.answer(sync)
        default: return CalendarService.refusal(415, .dav("supported-report"), service.writer)
        }
    }

    private func multiget(_ calendar: Calendar, _ root: XMLElement) -> Answer {
        guard let wanted = root.child(.dav("prop"))?.children.map(\.name) else { return Answer(.badRequest) }
        let properties = service.properties(request)
        var multistatus = Multistatus(service)
        for element in root.children where element.name == .dav("href") {
            let path =
                element.text.hasPrefix(request.origin)
                ? element.text.dropFirst(request.origin.count) : element.text[...]
            if case .object(calendar.home, calendar.id, let name) = CalendarTarget(path),
                let object = calendar.objects[name]
            {
                properties.add(.object(object), calendar.path(name), wanted, to: &multistatus)
            } else {
                multistatus.add(element.text, status: Multistatus.notFound)
            }
        }
        return multistatus.answer()
    }
}

extension Calendar {
    /// Returns the path of one of the calendar's objects on the server.
    package func path(_ object: String) -> String { CalendarTarget.path(home: home, id: id, object: object) }
}
