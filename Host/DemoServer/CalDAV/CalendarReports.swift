import HTTPTypes

/// REPORT: `sync-collection` (RFC 6578, section 3.2) and `calendar-multiget` (RFC 4791, section 7.9).
struct CalendarReports: Sendable {
    let service: CalendarService
    let request: CalendarRequest

    private var manner: CalendarManner { service.manner }

    func answer() -> Answer {
        guard let root = XMLElement(document: request.body) else { return Answer(.badRequest) }
        guard case .calendar(let home, let id) = request.target else {
            return CalendarService.refusal(415, .dav("supported-report"), service.writer)
        }
        guard let calendar = service.calendar(home: home, id: id) else { return Answer(.notFound) }
        switch root.name {
        case .caldav("calendar-multiget"): return multiget(calendar, root)
        case .dav("sync-collection") where manner.syncCollection: return sync(calendar, root)
        default: return CalendarService.refusal(415, .dav("supported-report"), service.writer)
        }
    }

    private func multiget(_ calendar: Calendar, _ root: XMLElement) -> Answer {
        guard let wanted = root.child(.dav("prop"))?.children.map(\.name) else { return Answer(.badRequest) }
        let properties = service.properties(request)
        var multistatus = Multistatus(writer: service.writer, faults: service.faults)
        for element in root.children where element.name == .dav("href") {
            let path =
                element.text.hasPrefix(request.origin)
                ? element.text.dropFirst(request.origin.count) : element.text[...]
            if case .object(calendar.home, calendar.id, let name) = CalendarTarget(path),
                let object = calendar.objects[name]
            {
                properties.add(.object(object), self.path(name), wanted, to: &multistatus)
            } else {
                multistatus.add(element.text, status: 404)
            }
        }
        return multistatus.answer()
    }

    private func sync(_ calendar: Calendar, _ root: XMLElement) -> Answer {
        let known: [XMLName] = [.dav("sync-token"), .dav("sync-level"), .dav("limit"), .dav("prop")]
        guard [nil, "0"].contains(request.fields[named: "Depth"]),
            root.children.allSatisfy({ known.contains($0.name) }), let token = root.child(.dav("sync-token")),
            root.child(.dav("sync-level"))?.text == "1",
            let wanted = root.child(.dav("prop"))?.children.map(\.name)
        else { return Answer(.badRequest) }
        let limit = root.child(.dav("limit"))?.child(.dav("nresults")).flatMap { Int($0.text) }
        if limit != nil, manner.limit == .refused {
            return CalendarService.refusal(507, .dav("number-of-matches-within-limits"), service.writer)
        }
        guard
            let page = SyncPage(of: calendar, since: token.text, limit: limit, manner: manner)
        else { return CalendarService.refusal(manner.invalidTokenStatus, .dav("valid-sync-token"), service.writer) }
        let properties = service.properties(request)
        var multistatus = Multistatus(writer: service.writer, faults: service.faults)
        if manner.listsItself { properties.add(.calendar(calendar), request.target.path, wanted, to: &multistatus) }
        for name in page.members {
            if let object = calendar.objects[name] {
                properties.add(.object(object), path(name), wanted, to: &multistatus)
            } else {
                multistatus.add(path(name), status: manner.removedStatus)
            }
        }
        if page.saysCut {
            multistatus.add(request.target.path, status: 507, error: .dav("number-of-matches-within-limits"))
        }
        return multistatus.answer(token: page.token, tokenFirst: manner.tokenFirst)
    }

    private func path(_ name: String) -> String {
        guard case .calendar(let home, let id) = request.target else { return name }
        return CalendarTarget.path(home: home, id: id, object: name)
    }
}
