import DemoServer
import HTTPTypes

/// The answers to MKCALENDAR, PROPPATCH, PUT and DELETE.
struct CalendarWriting: Sendable {
    let service: CalendarService
    let request: CalendarRequest

    private var calendars: Calendars { service.calendars }

    /// Answers a request; nil for a request that writes nothing.
    func answer() -> Answer? {
        switch request.method {
        case "MKCALENDAR": makeCalendar()
        case "PROPPATCH": rename()
        case "PUT": put()
        case "DELETE": remove()
        default: nil
        }
    }

    private func makeCalendar() -> Answer {
        guard case .calendar(let home, let id) = request.target else { return Answer(.forbidden) }
        var made = Calendar(home: home, id: id, name: nil, components: ["VEVENT", "VTODO"])
        if !request.body.isEmpty {
            guard let root = XMLElement(document: request.body) else { return Answer(.badRequest) }
            made.name = root.descendant(.dav("displayname"))?.text
            if let components = root.descendant(.caldav("supported-calendar-component-set")) {
                made.components = components.children.compactMap { $0.attributes["name"] }
            }
        }
        let calendar = made
        return calendars.change { state in
            guard state.index(of: id) == nil else { return Answer(.methodNotAllowed) }
            state.calendars.append(calendar)
            return Answer(.created)
        }
    }

    private func rename() -> Answer {
        guard let root = XMLElement(document: request.body), root.name == .dav("propertyupdate"),
            let name = root.descendant(.dav("displayname"))
        else { return Answer(.badRequest) }
        let renamed = edit { $0.name = name.text }
        guard renamed else { return Answer(.notFound) }
        var multistatus = Multistatus(service)
        multistatus.add(request.target.path, found: [multistatus.writer.element(.dav("displayname"))])
        return multistatus.answer()
    }

    private func put() -> Answer {
        guard case .object(let home, let id, let name) = request.target else { return Answer(.methodNotAllowed) }
        let text = String(decoding: request.body, as: UTF8.self)
        guard text.hasPrefix("BEGIN:VCALENDAR") else { return Answer(.unsupportedMediaType) }
        return calendars.change { state in
            guard let index = state.index(of: id, home: home) else { return Answer(.conflict) }
            let there = state.calendars[index].objects[name]
            guard !state.calendars[index].isReadOnly else { return Answer(.forbidden) }
            guard allowed(there) else { return Answer(.preconditionFailed) }
            state.calendars[index].put(name, text)
            var answer = Answer(there == nil ? .created : .noContent)
            answer.fields[.eTag] = state.calendars[index].objects[name]?.etag
            return answer
        }
    }

    private func remove() -> Answer {
        calendars.change { state in
            switch request.target {
            case .calendar(let home, let id):
                guard let index = state.index(of: id, home: home) else { return Answer(.notFound) }
                state.calendars.remove(at: index)
            case .object(let home, let id, let name):
                guard let index = state.index(of: id, home: home), let there = state.calendars[index].objects[name]
                else { return Answer(.notFound) }
                guard !state.calendars[index].isReadOnly else { return Answer(.forbidden) }
                guard allowed(there) else { return Answer(.preconditionFailed) }
                state.calendars[index].remove(name)
            default: return Answer(.forbidden)
            }
            return Answer(.noContent)
        }
    }

    private func allowed(_ object: Calendar.Object?) -> Bool {
        Preconditions(fields: request.fields, etag: object?.etag, exists: object != nil).allowWriting()
    }

    private func edit(_ body: (inout Calendar) -> Void) -> Bool {
        guard case .calendar(let home, let id) = request.target else { return false }
        return calendars.change { state in
            guard let index = state.index(of: id, home: home) else { return false }
            body(&state.calendars[index])
            return true
        }
    }
}

extension XMLElement {
    /// Returns the first element with a name below this element, at any depth.
    fileprivate func descendant(_ name: XMLName) -> XMLElement? {
        for child in children {
            if child.name == name { return child }
            if let found = child.descendant(name) { return found }
        }
        return nil
    }
}
