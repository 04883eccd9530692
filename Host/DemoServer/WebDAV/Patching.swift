import HTTPTypes
import Model

/// The answer to a PROPPATCH (RFC 4918, section 9.2): all of its changes are made, or none.
struct Patching: Sendable {
    let tree: Tree
    let request: WriteRequest

    /// The outcome for one property.
    private enum Outcome: Sendable {
        case change(@Sendable (inout Node) -> Void)
        case refusal(String, precondition: XMLName?)
    }

    private typealias Instruction = (name: XMLName, value: XMLElement?)

    func answer(_ body: [UInt8]) throws(Refusal) -> Answer {
        guard let root = XMLElement(document: body), root.name == .dav("propertyupdate") else {
            throw .malformed("The body is no propertyupdate")
        }
        let instructions = root.children.flatMap { part -> [Instruction] in
            let properties = part.child(.dav("prop"))?.children ?? []
            return switch part.name {
            case .dav("set"): properties.map { ($0.name, $0) }
            case .dav("remove"): properties.map { ($0.name, nil) }
            default: []
            }
        }
        guard !instructions.isEmpty else { throw .malformed("The propertyupdate names no property") }
        let path = request.path
        return try tree.with { (state) throws(Refusal) in
            guard let node = state.node(at: path) else { throw .notFound }
            try request.check(.setProperties, in: state)
            let outcomes = instructions.map { (name: $0.name, outcome: outcome(of: $0, node)) }
            let changes = outcomes.compactMap { entry in
                if case .change(let change) = entry.outcome { change } else { nil }
            }
            let isDone = changes.count == outcomes.count
            if isDone {
                state.edit(path) { node in for change in changes { change(&node) } }
                if let now = state.node(at: path), now.modified != node.modified { try state.touch(path) }
            }
            return multistatus(outcomes, isDone: isDone, href: request.base + path.encoded + (node.isFolder ? "/" : ""))
        }
    }

    private func outcome(of instruction: Instruction, _ node: Node) -> Outcome {
        let (name, value) = instruction
        switch name {
        case .ownCloud("favorite"):
            let isFavorite = value.map { $0.text != "0" && $0.text != "false" } ?? false
            return .change { $0.isFavorite = isFavorite }
        case .dav("lastmodified"), .dav("getlastmodified"):
            guard node.isFolder || node.permissions.allow(.write) else {
                return .refusal("403 Forbidden", precondition: nil)
            }
            guard let text = value?.text, let time = Int64(text) ?? Timestamp(httpDate: text)?.seconds else {
                return .refusal("409 Conflict", precondition: nil)
            }
            return .change { $0.modified = time }
        case let name where Properties.isLive(name):
            return .refusal("403 Forbidden", precondition: .dav("cannot-modify-protected-property"))
        default:
            let content = value.map(XMLWriter.files.content(of:))
            return .change { $0.deadProperties[name] = content }
        }
    }

    private func multistatus(
        _ outcomes: [(name: XMLName, outcome: Outcome)], isDone: Bool, href: String
    ) -> Answer {
        let writer = XMLWriter.files
        var content = writer.text(.dav("href"), href)
        for (name, outcome) in outcomes {
            var status = isDone ? "200 OK" : "424 Failed Dependency"
            var error = ""
            if case .refusal(let text, let precondition) = outcome {
                status = text
                error = precondition.map { writer.element(.dav("error"), writer.element($0)) } ?? ""
            }
            content += writer.element(
                .dav("propstat"),
                writer.element(.dav("prop"), writer.element(name)) + writer.text(.dav("status"), "HTTP/1.1 \(status)")
                    + error)
        }
        return Answer(
            .init(code: 207, reasonPhrase: "Multi-Status"), type: "application/xml; charset=utf-8",
            text: writer.document(.dav("multistatus"), writer.element(.dav("response"), content)))
    }
}
