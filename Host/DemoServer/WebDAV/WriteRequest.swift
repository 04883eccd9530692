package import HTTPTypes

/// A request that changes an item, and the checks that it must pass.
package struct WriteRequest: Sendable {
    /// What a request does to its item. Growth is the number of bytes by which the tree's files become larger together.
    package enum Change: Sendable {
        /// A file's content is written. The file may be new.
        case write(growth: Int)
        case makeFolder
        case remove
        case move(to: TreePath)
        case copy(to: TreePath, growth: Int)
        case setProperties
    }

    package var path: TreePath
    package let fields: HTTPFields
    let bases: [String]
    /// The encoded path of the tree's root, as the request names it.
    package let base: String
    package let behavior: any FileBehavior
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

    /// Checks a change by the server's own rules and by the request's conditions.
    func check(_ change: Change, in state: TreeState) throws(Refusal) {
        try behavior.check(change, by: self, in: state)
        try checkConditions(state)
    }

    /// Checks the conditions of RFC 9110 against the request's item.
    package func checkConditions(_ state: TreeState) throws(Refusal) {
        let node = state.node(at: path)
        let etag = node.flatMap { behavior.etag(of: $0, inHead: true) }
        let conditions = Preconditions(fields: fields, etag: etag, exists: node != nil)
        guard conditions.allowWriting(modified: node?.modified) else { throw .preconditionFailed }
    }

    /// Checks that a path is in a folder that exists.
    package func requireFolder(of path: TreePath, in state: TreeState) throws(Refusal) {
        guard state.parent(of: path) != nil else { throw .noParent }
    }

    /// Returns the item that an address or an absolute path names; nil if it is not in the tree. Nil stands for the
    /// request's item.
    package func item(_ address: String?) -> TreePath? {
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
