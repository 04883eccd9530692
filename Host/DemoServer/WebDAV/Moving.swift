import HTTPTypes

/// The answer to a MOVE or a COPY (RFC 4918, sections 9.8 and 9.9).
struct Moving: Sendable {
    let tree: Tree
    let request: WriteRequest
    let isCopy: Bool

    func answer() throws(Refusal) -> Answer {
        let (from, to) = (request.path, try destination())
        let overwrites = try overwrites()
        return try tree.with { (state) throws(Refusal) in
            guard let source = state.node(at: from) else { throw .notFound }
            let isDeep = try isDeep(source)
            guard !from.contains(to), !to.contains(from) else { throw .intoItself }
            try request.requireFolder(of: to, in: state)
            let there = state.node(at: to)
            let growth = (isDeep ? source.size : 0) - (there?.size ?? 0)
            try request.check(isCopy ? .copy(to: to, growth: growth) : .move(to: to), in: state)
            guard there == nil || overwrites else { throw .preconditionFailed }
            if there != nil { try state.remove(to) }
            if isCopy {
                try state.copy(from, to: to, deep: isDeep)
            } else {
                try state.move(from, to: to)
            }
            var answer = Answer(there == nil ? .created : .noContent)
            if let node = state.node(at: to) { request.describe(node, in: &answer) }
            return answer
        }
    }

    private func destination() throws(Refusal) -> TreePath {
        guard let field = request.fields[named: "Destination"] else {
            throw .malformed("The destination field was not supplied")
        }
        guard let path = request.item(field) else { throw .notPermitted("write outside of the user's files") }
        return path
    }

    private func overwrites() throws(Refusal) -> Bool {
        switch request.fields[named: "Overwrite"]?.uppercased() {
        case "T", nil: true
        case "F": false
        default: throw .malformed("The Overwrite field must be T or F")
        }
    }

    /// Tells whether the request is for everything below its item too, which a MOVE of a folder must be.
    private func isDeep(_ source: Node) throws(Refusal) -> Bool {
        switch Listing.Depth(request.fields[named: "Depth"]) {
        case .infinity?: return true
        case .zero? where isCopy || !source.isFolder: return false
        default: throw .malformed("The Depth field has a value that this method does not take")
        }
    }
}
