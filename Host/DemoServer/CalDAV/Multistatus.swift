import HTTPTypes

/// A builder of a multistatus (RFC 4918, section 13).
package struct Multistatus: Sendable {
    package let writer: XMLWriter
    private let behavior: any CalendarBehavior
    private var responses: [String] = []

    package init(_ service: CalendarService) { (writer, behavior) = (service.writer, service.behavior) }

    /// Adds a resource with the wanted properties that it has, as XML, and the names of the properties that it lacks.
    package mutating func add(_ href: String, found: [String], missing: [XMLName] = []) {
        var content = writer.text(.dav("href"), href)
        if !found.isEmpty || missing.isEmpty { content += propstat(found.joined(), "200 OK") }
        if !missing.isEmpty { content += propstat(missing.map { writer.element($0) }.joined(), Self.notFound) }
        responses.append(writer.element(.dav("response"), content))
    }

    package static let notFound = "404 Not Found"

    /// Adds a resource that has only a status.
    package mutating func add(_ href: String, status: String, error: XMLName? = nil) {
        var content = writer.text(.dav("href"), href) + self.status(status)
        if let error { content += writer.element(.dav("error"), writer.element(error)) }
        responses.append(writer.element(.dav("response"), content))
    }

    /// Returns the answer.
    /// - Parameter token: The sync token that belongs to the added resources.
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
