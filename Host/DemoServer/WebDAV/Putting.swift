import HTTPTypes

/// The answer to a PUT.
package struct Putting: Sendable {
    let tree: Tree
    let request: WriteRequest

    package init(tree: Tree, request: WriteRequest) { (self.tree, self.request) = (tree, request) }

    func answer(to asked: Asked) async throws -> Answer {
        let fields = request.fields
        guard fields[.contentRange] == nil else { throw Refusal.malformed("PUT does not take a Content-Range") }
        let modified = try Self.time(fields[named: "X-OC-Mtime"])
        let checksum = try Self.checksum(fields[named: "OC-Checksum"])
        let announced = asked.length
        try tree.with { (state) throws(Refusal) in try check(state, size: announced ?? 0) }
        let content = try await request.behavior.content(of: asked, checksum?.kind)
        if let checksum, !content.checksums.contains(checksum) {
            throw Refusal.malformed("The computed checksum does not match the one received from the client.")
        }
        return try place(content, modified: modified)
    }

    /// Makes received content the item's.
    package func place(_ content: Content, modified: Int64?) throws(Refusal) -> Answer {
        try tree.with { (state) throws(Refusal) in
            try check(state, size: content.size)
            let existed = state.node(at: request.path) != nil
            let node = try state.put(content, at: request.path, modified: modified ?? request.now)
            var answer = Answer(existed ? .noContent : .created)
            request.describe(node, in: &answer)
            if modified != nil { answer.fields[named: "X-OC-MTime"] = "accepted" }
            return answer
        }
    }

    /// Checks that content of a size may be the item's.
    package func check(_ state: TreeState, size: Int) throws(Refusal) {
        let path = request.path
        let there = state.node(at: path)
        if let there {
            guard !there.isFolder else { throw .wrongKind }
        } else {
            try request.requireFolder(of: path, in: state)
        }
        try request.check(.write(growth: size - (there?.size ?? 0)), in: state)
    }

    /// Reads a time in seconds since 1970, of which a fraction is ignored.
    package static func time(_ text: String?) throws(Refusal) -> Int64? {
        guard let text else { return nil }
        guard let time = Int64(text.prefix { $0 != "." }) else {
            throw .malformed("X-OC-MTime must be a number of seconds since 1970")
        }
        return time
    }

    package static func checksum(_ text: String?, separator: Character = ":") throws(Refusal) -> Checksum? {
        guard let text else { return nil }
        guard let checksum = Checksum(text, separator: separator) else {
            throw .malformed("The checksum is of an unknown kind")
        }
        return checksum
    }
}
