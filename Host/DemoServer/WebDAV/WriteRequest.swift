package import HTTPTypes

/// A request that changes an item, and the checks that it must pass.
package struct WriteRequest: Sendable {
    package var path: TreePath
    package let fields: HTTPFields
    let bases: [String]
    /// The encoded path of the tree's root, as the request names it.
    let base: String
    let behavior: any FileBehavior
    /// The time in seconds since 1970.
    package var now: Int64

    /// - Parameters:
    ///   - asked: The request.
    ///   - path: The item's path.
    ///   - base: The encoded path of the tree's root, as the request names it.
    ///   - site: The server's site.
    ///   - behavior: The server's behavior.
    ///   - now: The time in seconds since 1970.
    package init(
        _ asked: Asked, _ path: TreePath, _ base: String, site: Site, behavior: any FileBehavior, now: Int64
    ) {
        (self.path, fields, bases, self.base) = (path, asked.fields, site.bases, base)
        (self.behavior, self.now) = (behavior, now)
    }

    /// Checks the `If` field, and that no lock is violated whose token the request lacks.
    func checkLocks(_ state: TreeState, _ changed: [(path: TreePath, reach: Locks.Reach)]) throws(Refusal) {
        let condition = try ifHeader()
        if let condition {
            let isMet = condition.isMet { token, resource in
                item(resource).map { state.locks.covering($0, now: now).contains { $0.token == token } } ?? false
            } etag: { resource in
                item(resource).flatMap { state.node(at: $0) }.flatMap { behavior.etag(of: $0, inHead: true) }
            }
            guard isMet else { throw .preconditionFailed }
        }
        let tokens = condition?.tokens ?? []
        for (path, reach) in changed {
            if let lock = state.locks.obstacle(to: path, reach, tokens: tokens, now: now) { throw .locked(lock) }
        }
    }

    /// Checks the conditions of RFC 9110 against the request's item.
    func checkConditions(_ state: TreeState) throws(Refusal) {
        let node = state.node(at: path)
        let etag = node.flatMap { behavior.etag(of: $0, inHead: true) }
        let conditions = Preconditions(fields: fields, etag: etag, exists: node != nil)
        guard conditions.allowWriting(modified: node?.modified) else { throw .preconditionFailed }
    }

    /// Returns the folder that contains a path.
    func folder(of path: TreePath, _ state: TreeState) throws(Refusal) -> Node {
        guard let folder = state.node(at: TreePath(names: path.names.dropLast())), folder.isFolder else {
            throw .noParent
        }
        return folder
    }

    func require(_ action: Permissions.Action, of node: Node, to text: String) throws(Refusal) {
        guard node.permissions.allow(action) else { throw .notPermitted(text) }
    }

    /// The request's `If` field; nil if there is none.
    func ifHeader() throws(Refusal) -> IfHeader? {
        guard let field = fields[named: "If"] else { return nil }
        guard let header = IfHeader(field) else { throw .malformed("The If field is malformed") }
        return header
    }

    /// Returns the item that an address or an absolute path names; nil if it is not in the tree. Nil stands for the
    /// request's item.
    func item(_ address: String?) -> TreePath? {
        guard let address else { return path }
        var rest = address[...]
        for scheme in ["http://", "https://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count).drop { $0 != "/" }
        }
        guard case .item(let item, _) = Target(rest, bases: bases) else { return nil }
        return item
    }

    /// Adds the fields that name an item's id and version.
    func describe(_ node: Node, in answer: inout Answer) {
        let etag = behavior.etag(of: node, inHead: true)
        answer.fields[.eTag] = etag
        answer.fields[named: "OC-ETag"] = etag
        answer.fields[named: "OC-FileId"] = Properties.id(node)
    }
}
