import HTTPTypes
import NIOCore

/// PROPFIND (RFC 4918, section 9.1).
struct Listing: Sendable {
    enum Depth {
        case zero, one, infinity

        init?(_ field: String?) {
            switch field?.lowercased() {
            case "0": self = .zero
            case "1": self = .one
            case "infinity", nil: self = .infinity
            default: return nil
            }
        }
    }

    let tree: Tree
    let manner: Manner
    let faults: [Fault.Kind]

    private static let head = """
        <?xml version="1.0" encoding="utf-8"?>
        <d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">
        """
    private static let tail = "</d:multistatus>\n"

    /// - Parameters:
    ///   - base: the encoded path of the tree's root in hrefs.
    ///   - body: the request's.
    func answer(_ path: TreePath, base: String, depth: Depth?, body: [UInt8]) -> Answer {
        guard let depth else { return Answer(.badRequest) }
        if depth == .infinity, manner.depthInfinity == .refused {
            return Answer(
                .forbidden, type: "application/xml; charset=utf-8",
                text: #"<?xml version="1.0"?><d:error xmlns:d="DAV:"><d:propfind-finite-depth/></d:error>"#)
        }
        guard let node = tree.node(at: path) else { return Answer(.notFound) }
        let properties = Properties(request: body, manner: manner)
        let below = tree.look { state in
            var entries: [(path: TreePath, node: Node)] = []
            func add(_ node: Node, _ path: TreePath, deep: Bool) {
                for child in state.children(of: node) {
                    let childPath = TreePath(names: path.names + [child.name])
                    entries.append((childPath, child))
                    if deep { add(child, childPath, deep: true) }
                }
            }
            if depth != .zero { add(node, path, deep: depth == .infinity && manner.depthInfinity == .granted) }
            return entries
        }
        var answer = Answer(.init(code: 207, reasonPhrase: "Multi-Status"))
        answer.fields[.contentType] = "application/xml; charset=utf-8"
        answer.body = .chunks { sink in try await send([(path, node)] + below, base, properties, to: sink) }
        return answer
    }

    private func send(
        _ entries: [(path: TreePath, node: Node)], _ base: String, _ properties: Properties,
        to sink: (ByteBuffer) async throws -> Void
    ) async throws {
        var wrongChecksum = false
        var empty = false
        var truncated = false
        var foreign: [[UInt8]] = []
        var properties = properties
        for fault in faults {
            switch fault {
            case .wrongChecksum: wrongChecksum = true
            case .emptyListing: empty = true
            case .truncatedListing: truncated = true
            case .foreignEntries(let hrefs): foreign += hrefs
            case .properties(let values): properties.told.merge(values) { $1 }
            default: break
            }
        }
        var buffer = ByteBuffer(string: Self.head)
        for (index, entry) in entries.enumerated() where !empty {
            // In the middle of a tag: no reader can take it for a whole answer.
            if truncated, index * 2 >= entries.count {
                buffer.writeString("<d:response><d:hr")
                return try await sink(buffer)
            }
            let href = base + entry.path.encoded + (entry.node.isFolder ? "/" : "")
            buffer.writeBytes(properties.response(entry.node, href: Array(href.utf8), wrongChecksum: wrongChecksum))
            if index == 0 {
                for name in foreign {
                    var file = entry.node
                    (file.children, file.content) = (nil, .none)
                    buffer.writeBytes(
                        properties.response(file, href: Array(href.utf8) + name, wrongChecksum: wrongChecksum))
                }
            }
            if buffer.readableBytes > 64 << 10 {
                try await sink(buffer)
                buffer.clear()
            }
        }
        buffer.writeString(Self.tail)
        try await sink(buffer)
    }
}
