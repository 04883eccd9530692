import HTTPTypes

/// The answers to MKCOL and DELETE (RFC 4918, sections 9.3 and 9.6).
struct FolderWriting: Sendable {
    let tree: Tree
    let request: WriteRequest

    func makeFolder(hasBody: Bool) throws(Refusal) -> Answer {
        guard !hasBody else { throw .unsupportedBody }
        return try tree.with { (state) throws(Refusal) in
            let path = request.path
            guard state.node(at: path) == nil else { throw .exists }
            try request.requireFolder(of: path, in: state)
            try request.check(.makeFolder, in: state)
            try state.makeFolder(at: path, modified: request.now)
            var answer = Answer(.created)
            if let node = state.node(at: path) { request.describe(node, in: &answer) }
            return answer
        }
    }

    func remove() throws(Refusal) -> Answer {
        try tree.with { (state) throws(Refusal) in
            let path = request.path
            guard let node = state.node(at: path) else { throw .notFound }
            guard node.parent != nil else { throw .notPermitted("remove the folder of all files") }
            try request.check(.remove, in: state)
            try state.remove(path)
            return Answer(.noContent)
        }
    }
}
