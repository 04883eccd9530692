import HTTPTypes

/// A multistatus (RFC 4918, section 13) in the making.
package struct Multistatus: Sendable {
    package let writer: XMLWriter
    private let behavior: any CalendarBehavior
    private var responses: [String] = []

    package init(_ service: CalendarService) { (writer, behavior) = (service.writer, service.behavior) }

    /// A resource with what it has of the wanted properties, written already, and the names of those it lacks.
    package mutating func add(_ href: String, found: [String], missing: [XMLName] = []) {
        var content = writer.text(.dav("href"), href)
        if !found.isEmpty || missing.isEmpty { content += propstat(found.joined(), "200 OK") }
        if !missing.isEmpty { content += propstat(missing.map { writer.element($0) }.joined(), Self.notFound) }
        responses.append(writer.element(.dav("response"), content))
    }

    package static let notFound = "404 Not Found"

    /// A resource of which there is nothing but a status.
    package mutating func add(_ href: String, status: String, error: XMLName? = nil) {
        var content = writer.text(.dav("href"), href) + self.status(status)
        if let error { content += writer.element(.dav("error"), writer.element(error)) }
        responses.append(writer.element(.dav("response"), content))
    }

    /// - Parameter token: the sync token that belongs to what was added.
    package func answer(token: String? = nil) -> Answer {
        let token = token.map { writer.text(.dav("sync-token"), $0) } ?? ""
        return Answer(
            .init(code: 207, reasonPhrase: "Multi-Status"), type: "application/xml; charset=utf-8",
            text: writer.document(.dav("multistatus"), behavior.multistatus(responses, token: token)))
    }

    private func propstat(_ content: String, _ code: String) -> String {
        writer.element(.dav("propstat"), writer.element(.dav("prop"), content) + status(code))
    }

    private func status(_ status: String) -> String { writer.text(.dav("status"), "HTTP/1.1 \(status)") }
}
