import HTTPTypes

/// A service that answers the requests for calendars (RFC 4791).
package struct CalendarService: Sendable {
    package let calendars: Calendars
    package let user: String
    package let behavior: any CalendarBehavior

    static let wellKnownPath = "/.well-known/caldav"

    package var writer: XMLWriter { XMLWriter(namespaces: behavior.namespaces) }

    static func wellKnown() -> Answer {
        var answer = Answer(.movedPermanently)
        answer.fields[.location] = CalendarTarget.rootPath
        return answer
    }

    func answer(_ request: CalendarRequest) -> Answer {
        switch request.method {
        case "OPTIONS":
            var answer = Answer(.ok)
            answer.fields[named: "DAV"] = "1, 3, extended-mkcol, calendar-access"
            return answer
        case "PROPFIND": return CalendarListing(service: self, request: request).answer()
        case "REPORT": return CalendarReports(service: self, request: request).answer()
        case "GET", "HEAD": return get(request)
        default: return Answer(.methodNotAllowed)
        }
    }

    func properties(_ request: CalendarRequest) -> CalendarProperties {
        let others = calendars.read { $0.calendars.map(\.home) }.filter { $0 != user }
        let homes = others.reduce(into: [user]) { if !$0.contains($1) { $0.append($1) } }
        return CalendarProperties(request: request, behavior: behavior, writer: writer, user: user, homes: homes)
    }

    func calendar(home: String, id: String) -> Calendar? {
        calendars.read { state in state.index(of: id, home: home).map { state.calendars[$0] } }
    }

    /// Returns an answer that names the condition that a request violated (RFC 4918, section 16).
    package static func refusal(_ status: Int, _ condition: XMLName?, _ writer: XMLWriter) -> Answer {
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
