import HTTPTypes

/// Answers the requests that concern calendars (RFC 4791).
struct CalendarService: Sendable {
    let calendars: Calendars
    let manner: CalendarManner
    let user: String
    let faults: [Fault.Kind]

    static let wellKnownPath = "/.well-known/caldav"

    var writer: XMLWriter { XMLWriter(prefixes: manner.prefixes) }

    func wellKnown() -> Answer {
        guard manner.offered, let status = manner.wellKnownStatus else { return Answer(.notFound) }
        var answer = Answer(.init(code: status))
        answer.fields[.location] = CalendarTarget.rootPath
        return answer
    }

    func answer(_ request: CalendarRequest) -> Answer {
        guard manner.offered else { return Answer(.notFound) }
        let writing = CalendarWriting(calendars: calendars, request: request)
        switch request.method {
        case "OPTIONS":
            var answer = Answer(.ok)
            answer.fields[named: "DAV"] = "1, 3, extended-mkcol, calendar-access"
            return answer
        case "PROPFIND": return CalendarListing(service: self, request: request).answer()
        case "REPORT": return CalendarReports(service: self, request: request).answer()
        case "MKCALENDAR": return writing.makeCalendar()
        case "PROPPATCH": return writing.rename(Multistatus(writer: writer, faults: faults))
        case "GET", "HEAD": return get(request)
        case "PUT": return writing.put()
        case "DELETE": return writing.remove()
        default: return Answer(.methodNotAllowed)
        }
    }

    func properties(_ request: CalendarRequest) -> CalendarProperties {
        let others = calendars.look { $0.calendars.map(\.home) }.filter { $0 != user }
        let homes = others.reduce(into: [user]) { if !$0.contains($1) { $0.append($1) } }
        return CalendarProperties(request: request, manner: manner, writer: writer, user: user, homes: homes)
    }

    func calendar(home: String, id: String) -> Calendar? {
        calendars.look { state in state.index(of: id, home: home).map { state.calendars[$0] } }
    }

    /// An answer that names what a request broke (RFC 4918, section 16).
    static func refusal(_ status: Int, _ condition: XMLName?, _ writer: XMLWriter) -> Answer {
        let content = writer.element(
            condition ?? XMLName(namespace: "http://sabredav.org/ns", local: "message"), condition == nil ? "No." : "")
        return Answer(
            .init(code: status), type: "application/xml; charset=utf-8",
            text: writer.document(.dav("error"), content))
    }

    private func get(_ request: CalendarRequest) -> Answer {
        guard case .object(let home, let id, let name) = request.target else { return Answer(.methodNotAllowed) }
        guard let object = calendar(home: home, id: id)?.objects[name] else { return Answer(.notFound) }
        let conditions = Preconditions(fields: request.fields, etag: object.etag, exists: true)
        var answer =
            conditions.reading().map { Answer($0) }
            ?? Answer(.ok, type: "text/calendar; charset=utf-8", text: object.text)
        answer.fields[.eTag] = object.etag
        return answer
    }
}
