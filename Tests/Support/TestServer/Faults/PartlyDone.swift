import DemoServer
import HTTPTypes

/// A request of which the server does a part.
struct PartlyDone {
    let tree: Tree
    let site: Site
    /// The number of files that are done, or of bytes that are written.
    let count: Int

    /// Does the part.
    /// - Returns: The first path that was not done.
    func carryOut(_ asked: inout Asked, _ path: TreePath) async throws -> TreePath {
        switch asked.method {
        case "PUT":
            let body = try await asked.collect()
            if count > 0 { tree.put(path.text, body.prefix(count)) }
            return path
        case "DELETE": return through(path) { tree.remove($0) }
        case "COPY", "MOVE":
            guard let target = destination(asked), tree.exists(path.text) else { return path }
            let isCopy = asked.method == "COPY"
            return through(path) { from in
                let to = target.text + from.dropFirst(path.text.count)
                if isCopy { copy(from, to: to) } else { move(from, to: to) }
            }
        default: return path
        }
    }

    /// Gives the files at and below a path to a body, as many as are done.
    private func through(_ path: TreePath, _ body: (String) -> Void) -> TreePath {
        let files = tree.paths.filter { !$0.hasSuffix("/") && ($0 == path.text || $0.hasPrefix(path.text + "/")) }
        for file in files.prefix(count) { body(file) }
        return files.dropFirst(count).first.map(TreePath.init) ?? path
    }

    private func copy(_ from: String, to: String) {
        guard let bytes = tree.bytes(of: from), let node = tree.node(at: TreePath(from)) else { return }
        tree.put(to, bytes, modified: node.modified)
    }

    private func move(_ from: String, to: String) {
        tree.makeFolder(TreePath(names: Array(TreePath(to).names.dropLast())).text)
        tree.move(from, to: to)
    }

    private func destination(_ asked: Asked) -> TreePath? {
        // Scheme, authority and path.
        let parts = asked.fields[named: "Destination"]?.split(separator: "/", maxSplits: 2) ?? []
        guard parts.count == 3, case .item(let path, _) = Target("/\(parts[2])", bases: site.bases) else { return nil }
        return path
    }

    /// Returns the answer that names a failure below the request's item.
    static func failures(at path: TreePath, base: String) -> Answer {
        var answer = Answer(.init(code: 207))
        answer.fields[.contentType] = "application/xml; charset=utf-8"
        answer.body = .bytes(
            Array(
                """
                <?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>\(base)\(path.encoded)</d:href>\
                <d:status>HTTP/1.1 423 Locked</d:status></d:response></d:multistatus>
                """.utf8))
        return answer
    }
}
