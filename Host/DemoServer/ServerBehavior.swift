/// The behavior of a server where the protocols leave servers free. The defaults are the demo server's behavior; the
/// tests' server provides all other behavior.
package protocol ServerBehavior: FileBehavior, CalendarBehavior, OCSBehavior {}

/// The behavior that the protocols' defaults define.
struct DemoBehavior: ServerBehavior {}

/// The behavior of a server where WebDAV leaves it free.
package protocol FileBehavior: Sendable {
    /// Returns the ETag of an item in a listing, or in an answer's head; nil for none.
    func etag(of node: Node, inHead: Bool) -> String?

    /// Returns a property of an item in a listing; nil if the item lacks the property.
    /// - Parameters:
    ///   - name: The property's name without a namespace.
    ///   - node: The item.
    ///   - proper: The correct value.
    func property(_ name: String, of node: Node, _ proper: String?) -> String?

    /// Checks a change of the tree by what the server has beyond the protocols' conditions, such as locks.
    /// - Parameters:
    ///   - change: The change that is wanted.
    ///   - request: The request, which names the item.
    ///   - state: The tree, which does not change meanwhile.
    func check(_ change: WriteRequest.Change, by request: WriteRequest, in state: TreeState) throws(Refusal)

    /// Receives a request's body as a file's content. The default keeps it in memory.
    /// - Parameter kind: The kind of the checksum that is computed besides SHA-1; nil for none.
    func content(of asked: Asked, _ kind: Checksum.Kind?) async throws -> Content
}

extension FileBehavior {
    package func etag(of node: Node, inHead: Bool) -> String? { "\"\(node.tag)\"" }

    package func property(_ name: String, of node: Node, _ proper: String?) -> String? { proper }

    package func check(
        _ change: WriteRequest.Change, by request: WriteRequest, in state: TreeState
    ) throws(Refusal) {}

    package func content(of asked: Asked, _ kind: Checksum.Kind?) async throws -> Content {
        var bytes: [UInt8] = []
        try await asked.receive { bytes += $0 }
        return Content(bytes, kind)
    }
}

/// The behavior of a server where CalDAV leaves it free.
package protocol CalendarBehavior: Sendable {
    /// The namespaces that documents declare, with their prefixes.
    var namespaces: [XMLWriter.Namespace] { get }

    /// Returns the form in which a property writes an address.
    func address(of target: CalendarTarget, in request: CalendarRequest) -> String

    /// Returns the collections that are listed in a home besides its calendars.
    func otherCollections(in home: String) -> [CalendarProperties.Collection]

    /// Returns the position of a calendar's history; nil if `sync-collection` is not offered.
    func syncToken(of calendar: Calendar) -> String?

    /// Returns the answer to `sync-collection`.
    func answer(_ sync: CalendarSync) -> Answer

    /// Returns the content of a multistatus: its responses and the sync token that belongs to them, all as XML.
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

/// The behavior of a server in the ownCloud family's own protocol.
package protocol OCSBehavior: Sendable {
    /// Returns the answer to a request that may be answered.
    func answer(_ request: OCSRequest, by service: OCSService) -> Answer
}

extension OCSBehavior {
    package func answer(_ request: OCSRequest, by service: OCSService) -> Answer {
        service.reply(to: request).answer(to: request)
    }
}
