import HTTPTypes

/// The answer to a PROPFIND (RFC 4918, section 9.1).
package struct Listing: Sendable {
    package enum Depth {
        case zero, one, infinity

        package init?(_ field: String?) {
            switch field?.lowercased() {
            case "0": self = .zero
            case "1": self = .one
            case "infinity", nil: self = .infinity
            default: return nil
            }
        }
    }

    package typealias Entry = (path: TreePath, node: Node)

    let tree: Tree
    let behavior: any FileBehavior

    private static let head = """
        <?xml version="1.0" encoding="utf-8"?>
        <d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">
        """
    private static let tail = "</d:multistatus>\n"

    package init(tree: Tree, behavior: any FileBehavior) { (self.tree, self.behavior) = (tree, behavior) }

    /// Returns the listing of an item.
    /// - Parameters:
    ///   - path: The item's path.
    ///   - base: The encoded path of the tree's root in hrefs.
    ///   - depth: The depth of the listing; nil if the request's depth is malformed.
    ///   - body: The request's body.
    func answer(_ path: TreePath, base: String, depth: Depth?, body: [UInt8]) -> Answer {
        guard let depth else { return Answer(.badRequest) }
        guard depth != .infinity else {
            return Answer(
                .forbidden, type: "application/xml; charset=utf-8",
                text: #"<?xml version="1.0"?><d:error xmlns:d="DAV:"><d:propfind-finite-depth/></d:error>"#)
        }
        guard let node = tree.node(at: path) else { return Answer(.notFound) }
        let children = depth == .zero ? [] : tree.read { $0.children(of: node) }
        let below = children.map { (path: TreePath(names: path.names + [$0.name]), node: $0) }
        return answer(listing: [(path, node)] + below, base: base, body: body)
    }

    /// Returns a listing of the entries, of which the requested item is the first.
    package func answer(listing entries: [Entry], base: String, body: [UInt8]) -> Answer {
        let properties = Properties(request: body, behavior: behavior)
        var answer = Answer(.init(code: 207, reasonPhrase: "Multi-Status"))
        answer.fields[.contentType] = "application/xml; charset=utf-8"
        answer.body = .chunks { sink in
            var bytes = Array(Self.head.utf8)
            for (path, node) in entries {
                let href = base + path.encoded + (node.isFolder ? "/" : "")
                bytes += properties.response(node, href: Array(href.utf8))
                if bytes.count > 64 << 10 {
                    try await sink(bytes)
                    bytes = []
                }
            }
            try await sink(bytes + Self.tail.utf8)
        }
        return answer
    }
}
