import DemoServer
import HTTPTypes

/// The answers to PUT, MKCOL, DELETE, MOVE and COPY (RFC 4918, section 9).
struct Writing: Sendable {
    let tree: Tree
    let behavior: TestBehavior
    let site: Site

    func put(_ path: TreePath, _ content: Content, fields: HTTPFields) throws(TreeError) -> Answer {
        let modified = fields[named: "X-OC-Mtime"].flatMap { Int64($0.prefix { $0 != "." }) }
        let (node, existed) = try tree.with { (state) throws(TreeError) in
            let there = state.node(at: path)
            try check(there, fields)
            return (try state.put(content, at: path, modified: modified ?? Tree.now()), there != nil)
        }
        var answer = Answer(existed ? .noContent : .created)
        answer.fields[.eTag] = behavior.etag(of: node, inHead: true)
        if behavior.manner.ownCloudProperties { answer.fields[named: "OC-FileId"] = Properties.id(node) }
        if modified != nil { answer.fields[named: "X-OC-MTime"] = "accepted" }
        return answer
    }

    func makeFolder(_ path: TreePath) throws(TreeError) -> Answer {
        try tree.with { (state) throws(TreeError) in try state.makeFolder(at: path, modified: Tree.now()) }
        return Answer(.created)
    }

    func remove(_ path: TreePath, fields: HTTPFields) throws(TreeError) -> Answer {
        try tree.with { (state) throws(TreeError) in
            try check(state.node(at: path), fields)
            try state.remove(path)
        }
        return Answer(.noContent)
    }

    /// Answers MOVE, or COPY with `copying`.
    func move(_ path: TreePath, fields: HTTPFields, copying: Bool) throws(TreeError) -> Answer {
        guard let field = fields[named: "Destination"],
            let destination = destination(field)
        else { return Answer(.badRequest) }
        let deep = fields[named: "Depth"] != "0"
        let existed = try tree.with { (state) throws(TreeError) in
            guard let source = state.node(at: path) else { throw .notFound }
            try check(source, fields)
            guard !path.contains(destination), !destination.contains(path) else { throw .intoItself }
            let there = state.node(at: destination) != nil
            if there {
                guard fields[named: "Overwrite"]?.uppercased() != "F" else { throw .preconditionFailed }
                try state.remove(destination)
            }
            if copying {
                try state.copy(path, to: destination, deep: deep)
            } else {
                try state.move(path, to: destination)
            }
            return there
        }
        return Answer(existed ? .noContent : .created)
    }

    /// Returns the item that a `Destination` field names, as an absolute address or a path.
    private func destination(_ field: String) -> TreePath? {
        var path = field[...]
        for scheme in ["http://", "https://"] where path.hasPrefix(scheme) {
            path = path.dropFirst(scheme.count)
            path = path.drop { $0 != "/" }
        }
        guard case .item(let item, _) = Target(path, bases: site.bases) else { return nil }
        return item
    }

    private func check(_ node: Node?, _ fields: HTTPFields) throws(TreeError) {
        let etag = node.flatMap { behavior.etag(of: $0, inHead: true) }
        guard Preconditions(fields: fields, etag: etag, exists: node != nil).allowWriting else {
            throw .preconditionFailed
        }
    }
}

extension TreeState {
    /// Copies the item at a path, with everything below it if `deep`. The copies are items of their own.
    fileprivate mutating func copy(_ from: TreePath, to: TreePath, deep: Bool = true) throws(TreeError) {
        guard let node = node(at: from) else { throw .notFound }
        guard !from.contains(to) else { throw .intoItself }
        guard node.isFolder else {
            _ = try put(node.content, at: to, modified: node.modified)
            return
        }
        try makeFolder(at: to, modified: node.modified)
        guard deep else { return }
        for child in children(of: node) {
            try copy(
                TreePath(names: from.names + [child.name]), to: TreePath(names: to.names + [child.name]))
        }
    }
}

extension Preconditions {
    /// Whether a writing request may proceed.
    var allowWriting: Bool {
        if let wanted = fields[.ifMatch], !matches(wanted, strongly: true) { return false }
        if let known = fields[.ifNoneMatch], matches(known, strongly: false) { return false }
        return true
    }
}
