import HTTPTypes

/// PUT, MKCOL, DELETE, MOVE and COPY (RFC 4918, section 9).
struct Writing: Sendable {
    let tree: Tree
    let manner: Manner
    let configuration: DemoServer.Configuration

    func put(_ path: TreePath, _ content: Content, fields: HTTPFields) throws(Refusal) -> Answer {
        let modified = fields[named: "X-OC-Mtime"].flatMap { Int64($0.prefix { $0 != "." }) }
        let (node, existed) = try tree.with { (state) throws(Refusal) in
            let there = state.node(at: path)
            try check(there, fields)
            return (try state.put(content, at: path, modified: modified ?? Tree.now()), there != nil)
        }
        var answer = Answer(existed ? .noContent : .created)
        answer.fields[.eTag] = Properties.etag(of: node, manner: manner, inHead: true)
        if manner.ownCloudProperties { answer.fields[named: "OC-FileId"] = Properties.id(node) }
        if modified != nil { answer.fields[named: "X-OC-MTime"] = "accepted" }
        return answer
    }

    func makeFolder(_ path: TreePath) throws(Refusal) -> Answer {
        try tree.with { (state) throws(Refusal) in try state.makeFolder(at: path, modified: Tree.now()) }
        return Answer(.created)
    }

    func remove(_ path: TreePath, fields: HTTPFields) throws(Refusal) -> Answer {
        try tree.with { (state) throws(Refusal) in
            try check(state.node(at: path), fields)
            try state.remove(path)
        }
        return Answer(.noContent)
    }

    /// MOVE, or COPY with `copying`.
    func move(_ path: TreePath, fields: HTTPFields, copying: Bool) throws(Refusal) -> Answer {
        guard let field = fields[named: "Destination"],
            let destination = Target.destination(field, configuration: configuration)
        else { return Answer(.badRequest) }
        let deep = fields[named: "Depth"] != "0"
        let existed = try tree.with { (state) throws(Refusal) in
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

    private func check(_ node: Node?, _ fields: HTTPFields) throws(Refusal) {
        let etag = node.flatMap { Properties.etag(of: $0, manner: manner, inHead: true) }
        guard Preconditions(fields: fields, etag: etag, exists: node != nil).allowWriting else {
            throw .preconditionFailed
        }
    }
}
