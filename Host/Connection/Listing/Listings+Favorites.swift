public import Model
import Transfer

extension Listings {
    /// Asks for the items that are marked as favorites (REPORT `oc:filter-files`; Nextcloud's developer manual, "Searching
    /// favorites"). Servers of the ownCloud family change no ETag when an item is marked, so that no scan finds the mark.
    /// - Returns: The items' paths; nil if the server does not answer such a request.
    /// - Throws: `ConnectionError` if the answer does not come or is not whole. It then says nothing about any item.
    public func favorites() async throws(ConnectionError) -> Set<ItemPath>? {
        guard wire.knowledge.isFamily else { return nil }
        let root = try wire.root()
        let asked: AskedProperties
        do { asked = try AskedProperties([Self.favorite]) } catch {
            throw ConnectionError(.badRequest, "\(error.text) is not a property name")
        }
        var question = Question(
            method: "REPORT", headers: ["Content-Type": "application/xml; charset=utf-8"], body: Self.favoritesBody,
            timeLimit: wire.timeLimits.head, expected: .transfer, doing: "asking for favorites")
        try await wire.enterGate(&question, .listing)
        defer { question.turn?.end() }
        var reply = try await wire.ask(question, at: root)
        guard reply.answer.status == 207 else {
            let isRefused = (400..<500).contains(reply.answer.status) && reply.answer.status != 429
            guard !isRefused, reply.answer.status != 501 else { return nil }
            throw await wire.notListed(&reply, question)
        }
        try Wire.checkCoding(of: reply.answer, question, at: root.origin)
        let reader = try MultistatusReader(asked, asked: reply.address)
        let hrefs = HrefReader(root: reply.address.asFolder, asked: reply.address)
        var favorites: Set<ItemPath> = []
        while let chunk = try await wire.nextChunk(of: &reply.answer, question, at: root.origin) {
            let responses = chunk.withUnsafeBytes { bytes in
                Result { () throws(ConnectionError) in try reader.read(bytes) }
            }
            for response in try responses.get() {
                guard (200..<300).contains(response.status ?? 200), response.values.first != .some("0"),
                    case .item(let path) = hrefs.place(of: response.href), !path.isRoot
                else { continue }
                favorites.insert(path)
            }
        }
        guard try !reader.finish().isTruncated else { return nil }
        return favorites
    }

    private static let favorite = "{http://owncloud.org/ns}favorite"

    private static let favoritesBody = Array(
        """
        <?xml version="1.0" encoding="utf-8"?>
        <oc:filter-files xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><oc:favorite/></d:prop>\
        <oc:filter-rules><oc:favorite>1</oc:favorite></oc:filter-rules></oc:filter-files>
        """.utf8)
}
