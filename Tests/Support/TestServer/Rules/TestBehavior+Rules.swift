import DemoServer
import Synchronization

extension TestBehavior {
    func check(_ change: WriteRequest.Change, by request: WriteRequest, in state: TreeState) throws(Refusal) {
        let path = request.path
        var growth = 0
        var changed: [(path: TreePath, reach: Locks.Reach)] = []
        switch change {
        case .write(let bytes):
            growth = bytes
            try request.requirePermission(toWrite: path, in: state)
            changed = [(path, state.node(at: path) == nil ? .folder : [])]
        case .makeFolder:
            try request.require(.createFolder, of: path.folder, in: state)
            changed = [(path, .folder)]
        case .remove:
            try request.require(.delete, of: path, in: state)
            changed = [(path, [.folder, .below])]
        case .move(let target):
            try request.requirePermission(toMoveTo: target, isCopy: false, in: state)
            changed = [(target, state.node(at: target) == nil ? .folder : .below), (path, [.folder, .below])]
        case .copy(let target, let bytes):
            growth = bytes
            try request.requirePermission(toMoveTo: target, isCopy: true, in: state)
            changed = [(target, state.node(at: target) == nil ? .folder : .below)]
        case .setProperties: changed = [(path, [])]
        }
        try checkLocks(changed, by: request, in: state)
        if growth > 0, let quota, (state.node(at: .root)?.size ?? 0) + growth > quota {
            throw .other(507, exception: "InsufficientStorage", "The user's quota does not suffice")
        }
    }

    /// Checks the `If` field, and that no lock is violated whose token the request lacks.
    private func checkLocks(
        _ changed: [(path: TreePath, reach: Locks.Reach)], by request: WriteRequest, in state: TreeState
    ) throws(Refusal) {
        let condition = try request.ifHeader()
        let locks = rules.locks.withLock { $0 }
        if let condition {
            let isMet = condition.isMet { token, resource in
                request.item(resource).map {
                    locks.covering($0, in: state, now: request.now).contains { $0.token == token }
                } ?? false
            } etag: { resource in
                request.item(resource).flatMap { state.node(at: $0) }.flatMap { etag(of: $0, inHead: true) }
            }
            guard isMet else { throw .preconditionFailed }
        }
        let tokens = condition?.tokens ?? []
        for (path, reach) in changed {
            if let lock = locks.obstacle(to: path, reach, tokens: tokens, in: state, now: request.now) {
                throw .locked(lock, lacking: "lock-token-submitted")
            }
        }
    }

    /// Returns a property that tells of the rules; nil for another property.
    func ruleProperty(_ name: String, of node: Node) -> String? {
        let writer = XMLWriter.listing
        switch name {
        case "lockdiscovery":
            return tree.read { state in
                rules.locks.withLock { $0 }.covering(state.path(of: node), in: state, now: now)
            }.map { $0.xml(now: now) }.joined()
        case "supportedlock":
            return writer.element(
                .dav("lockentry"),
                writer.element(.dav("lockscope"), writer.element(.dav("exclusive")))
                    + writer.element(.dav("locktype"), writer.element(.dav("write"))))
        case "quota-available-bytes":
            guard let quota, node.isFolder else { return nil }
            return String(max(0, quota - (tree.node(at: .root)?.size ?? 0)))
        default: return nil
        }
    }

    var quota: Int? { rules.quota.withLock { $0 } }
}

extension WriteRequest {
    /// The request's `If` field; nil if there is none.
    func ifHeader() throws(Refusal) -> IfHeader? {
        guard let field = fields[named: "If"] else { return nil }
        guard let header = IfHeader(field) else { throw .malformed("The If field is malformed") }
        return header
    }

    /// Checks that the user may write a file that is there, or create one.
    func requirePermission(toWrite path: TreePath, in state: TreeState) throws(Refusal) {
        if state.node(at: path) == nil {
            try require(.createFile, of: path.folder, in: state)
        } else {
            try require(.write, of: path, in: state)
        }
    }

    fileprivate func requirePermission(
        toMoveTo target: TreePath, isCopy: Bool, in state: TreeState
    ) throws(Refusal) {
        if state.node(at: target) != nil { try require(.delete, of: target, in: state) }
        if !isCopy {
            if path.folder == target.folder { return try require(.rename, of: path, in: state) }
            try require(.move, of: path, in: state)
        }
        let isFolder = state.node(at: path)?.isFolder ?? false
        try require(isFolder ? .createFolder : .createFile, of: target.folder, in: state)
    }

    fileprivate func require(_ action: Permissions.Action, of path: TreePath, in state: TreeState) throws(Refusal) {
        guard let node = state.node(at: path), !node.permissions.allow(action) else { return }
        throw .notPermitted("\(action)")
    }
}

extension TreePath {
    /// The path of the folder that contains the item.
    var folder: TreePath { TreePath(names: names.dropLast()) }
}

extension TreeState {
    /// Returns the path of an item.
    fileprivate func path(of node: Node) -> TreePath {
        var names: [[UInt8]] = []
        var item = node
        while let parent = item.parent.flatMap({ nodes[$0] }) {
            names.insert(item.name, at: 0)
            item = parent
        }
        return TreePath(names: names)
    }
}
