/// What a tree notes beside its items, at one moment: the locks and the quota.
struct Notes: Sendable {
    private let locks: Locks
    private let quota: Int?
    private let used: Int
    private let now: Int64

    /// What `quota-available-bytes` is where no quota is set, as in ownCloud.
    static let unlimited = -3

    init(_ tree: Tree) {
        now = tree.now
        (locks, quota, used) = tree.read { ($0.locks, $0.quota, $0.node(at: .root)?.size ?? 0) }
    }

    /// Returns the values of an item's special properties, by their names.
    func values(of node: Node, _ path: TreePath) -> [String: String] {
        let writer = XMLWriter.listing
        let entry =
            writer.element(.dav("lockscope"), writer.element(.dav("exclusive")))
            + writer.element(.dav("locktype"), writer.element(.dav("write")))
        var values = [
            "lockdiscovery": locks.covering(path, now: now).map { $0.xml(now: now) }.joined(),
            "supportedlock": writer.element(.dav("lockentry"), entry),
        ]
        if node.isFolder {
            values["quota-used-bytes"] = String(node.size)
            values["quota-available-bytes"] = String(quota.map { max(0, $0 - used) } ?? Self.unlimited)
        }
        return values
    }
}
