/// What a server does where the protocols leave servers free. What stands here is what the demo server does; the server
/// of the tests does all the rest.
package protocol ServerBehavior: FileBehavior, CalendarBehavior, OCSBehavior {}

/// As the protocols' defaults have it.
struct DemoBehavior: ServerBehavior {}

/// Where WebDAV leaves servers free.
package protocol FileBehavior: Sendable {
    /// The ETag of an item in a listing, or in an answer's head; nil for none.
    func etag(of node: Node, inHead: Bool) -> String?

    /// A property of an item in a listing, by its name without a namespace; nil if the item has none.
    /// - Parameter proper: the value that it should have.
    func property(_ name: String, of node: Node, _ proper: String?) -> String?
}

extension FileBehavior {
    package func etag(of node: Node, inHead: Bool) -> String? { "\"\(node.tag)\"" }

    package func property(_ name: String, of node: Node, _ proper: String?) -> String? { proper }
}

/// Where CalDAV does.
package protocol CalendarBehavior: Sendable {
    /// The namespaces that documents declare, with their prefixes.
    var namespaces: [XMLWriter.Namespace] { get }

    /// How a property that names an address writes it.
    func address(of target: CalendarTarget, in request: CalendarRequest) -> String

    /// What is listed in a home besides its calendars.
    func otherCollections(in home: String) -> [CalendarProperties.Collection]

    /// Where a calendar's history stands; nil where `sync-collection` is not offered.
    func syncToken(of calendar: Calendar) -> String?

    /// The answer to `sync-collection`.
    func answer(_ sync: CalendarSync) -> Answer

    /// What stands in a multistatus: its responses, and the sync token that belongs to them, all written already.
    func multistatus(_ responses: [String], token: String) -> String
}

extension CalendarBehavior {
    package var namespaces: [XMLWriter.Namespace] { XMLWriter.usual }

    package func address(of target: CalendarTarget, in request: CalendarRequest) -> String { target.path }

    package func otherCollections(in home: String) -> [CalendarProperties.Collection] { [] }

    package func syncToken(of calendar: Calendar) -> String? { CalendarSync.token(after: calendar.version) }

    package func answer(_ sync: CalendarSync) -> Answer { sync.answer() }

    package func multistatus(_ responses: [String], token: String) -> String { responses.joined() + token }
}

/// What the ownCloud family's own protocol is answered with.
package protocol OCSBehavior: Sendable {
    /// The answer to a request that may be answered.
    func answer(_ request: OCSRequest, by service: OCSService) -> Answer
}

extension OCSBehavior {
    package func answer(_ request: OCSRequest, by service: OCSService) -> Answer {
        service.reply(to: request).answer(to: request)
    }
}
