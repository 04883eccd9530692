/// The nodes of a tree, and their changes. Every change gets the next number, which is noted in the changed node and in
/// the folders above it.
package struct TreeState: Sendable {
    package private(set) var nodes: [UInt64: Node]
    private var lastID: UInt64 = 1
    private var lastVersion: UInt64 = 1
    /// The number of folders above a change that note it.
    package var levelsTold = Int.max

    static let rootID: UInt64 = 1

    init(now: Int64) {
        nodes = [1: Node(id: 1, parent: nil, name: [], children: [:], modified: now, version: 1)]
    }

    package func node(at path: TreePath) -> Node? {
        var id = Self.rootID
        for name in path.names {
            guard let next = nodes[id]?.children?[name] else { return nil }
            id = next
        }
        return nodes[id]
    }

    /// Returns the children of a folder in the order in which they were created.
    package func children(of node: Node) -> [Node] { (node.children ?? [:]).values.sorted().compactMap { nodes[$0] } }

    package mutating func put(_ content: Content, at path: TreePath, modified: Int64) throws(Refusal) -> Node {
        if let there = node(at: path) {
            guard !there.isFolder else { throw .wrongKind }
            nodes[there.id]?.content = content
            nodes[there.id]?.modified = modified
            resize(there.id, by: content.size - there.size)
            changed(there.id)
            return nodes[there.id] ?? there
        }
        let id = try insert(at: path, children: nil, modified: modified)
        nodes[id]?.content = content
        resize(id, by: content.size)
        guard let node = nodes[id] else { throw .notFound }
        return node
    }

    package mutating func makeFolder(at path: TreePath, modified: Int64) throws(Refusal) {
        guard node(at: path) == nil else { throw .exists }
        _ = try insert(at: path, children: [:], modified: modified)
    }

    package mutating func remove(_ path: TreePath) throws(Refusal) {
        guard let node = node(at: path), let parent = node.parent else { throw .notFound }
        resize(parent, by: -node.size)
        nodes[parent]?.children?[node.name] = nil
        forget(node)
        tell(parent)
    }

    /// Moves an item with everything below it. The ids stay the same.
    package mutating func move(_ from: TreePath, to: TreePath) throws(Refusal) {
        guard let node = node(at: from), let oldParent = node.parent else { throw .notFound }
        guard !from.contains(to), let name = to.names.last else { throw .intoItself }
        guard self.node(at: to) == nil else { throw .exists }
        guard let newParent = parent(of: to) else { throw .noParent }
        resize(oldParent, by: -node.size)
        nodes[oldParent]?.children?[node.name] = nil
        nodes[node.id]?.name = name
        nodes[node.id]?.parent = newParent
        nodes[newParent]?.children?[name] = node.id
        resize(newParent, by: node.size)
        tell(oldParent)
        tell(newParent)
    }

    /// Copies an item, with everything below it if `deep`. The copies are items of their own.
    mutating func copy(_ from: TreePath, to: TreePath, deep: Bool) throws(Refusal) {
        guard let node = node(at: from) else { throw .notFound }
        guard !from.contains(to) else { throw .intoItself }
        if node.isFolder {
            try makeFolder(at: to, modified: node.modified)
        } else {
            _ = try put(node.content, at: to, modified: node.modified)
        }
        edit(to) { $0.deadProperties = node.deadProperties }
        guard deep else { return }
        for child in children(of: node) {
            let (from, to) = (from.names + [child.name], to.names + [child.name])
            try copy(TreePath(names: from), to: TreePath(names: to), deep: true)
        }
    }

    /// Changes what is noted of an item. Its version stays the same.
    package mutating func edit(_ path: TreePath, _ body: (inout Node) -> Void) {
        if let id = node(at: path)?.id, var node = nodes[id] {
            body(&node)
            nodes[id] = node
        }
    }

    /// Gives an item a new version with the same content.
    package mutating func touch(_ path: TreePath) throws(Refusal) {
        guard let node = node(at: path) else { throw .notFound }
        changed(node.id)
    }

    func parent(of path: TreePath) -> UInt64? {
        guard let parent = node(at: TreePath(names: path.names.dropLast())), parent.isFolder else { return nil }
        return parent.id
    }

    private mutating func insert(
        at path: TreePath, children: [[UInt8]: UInt64]?, modified: Int64
    ) throws(Refusal) -> UInt64 {
        guard let name = path.names.last else { throw .exists }
        guard let parent = parent(of: path) else { throw .noParent }
        lastID += 1
        nodes[lastID] = Node(
            id: lastID, parent: parent, name: name, children: children, modified: modified, version: 0)
        nodes[parent]?.children?[name] = lastID
        changed(lastID)
        return lastID
    }

    private mutating func forget(_ node: Node) {
        for child in children(of: node) { forget(child) }
        nodes[node.id] = nil
    }

    private mutating func resize(_ id: UInt64, by difference: Int) {
        var next: UInt64? = id
        while let id = next, let node = nodes[id] {
            nodes[id]?.size = node.size + difference
            next = node.parent
        }
    }

    /// Gives an item and the folders above it a new version.
    private mutating func changed(_ id: UInt64) {
        tell(nodes[id]?.parent)
        nodes[id]?.version = lastVersion
    }

    /// Gives a folder and those above it a new version, because something in the folder changed.
    private mutating func tell(_ folder: UInt64?) {
        lastVersion += 1
        var next = folder
        for _ in 0..<levelsTold {
            guard let id = next, let node = nodes[id] else { return }
            nodes[id]?.version = lastVersion
            next = node.parent
        }
    }
}
