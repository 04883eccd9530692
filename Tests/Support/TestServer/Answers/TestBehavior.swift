import DemoServer

/// The server's behavior in one answer: its manner, and the faults that apply.
struct TestBehavior: ServerBehavior {
    let manner: Manner
    let faults: [Fault.Kind]
    let hints: Hints
    /// The name of the server's user.
    let user: String
    /// The time in seconds since 1970.
    let now: Int64
    let tree: Tree
    let rules: Rules
    /// The folder for large bodies.
    let scratchFolder: String

    func etag(of node: Node, inHead: Bool) -> String? {
        let tag = manner.sharedTags[node.tag] ?? node.tag
        let strong = "\"\(tag)\""
        if node.isFolder { return manner.folderETags ? strong : nil }
        return switch manner.fileETags {
        case .strong: strong
        case .weak: "W/" + strong
        case .unquoted: inHead ? strong : tag
        case .none: nil
        case .onlyOnGet: inHead ? strong : nil
        case .weakInFirstSecond: now - node.modified < 1 ? "W/" + strong : strong
        case .ofSizeAndSecond: "\"\(node.id)-\(node.size)-\(node.modified)\""
        }
    }

    func property(_ name: String, of node: Node, _ proper: String?) -> String? {
        if Properties.isOwnClouds(name), !manner.ownCloudProperties { return nil }
        for case .properties(let values) in faults.reversed() {
            if let told = values[name] { return told }
        }
        if let told = ruleProperty(name, of: node) { return told }
        if name == "quota-available-bytes", manner.nextcloud != nil, quota == nil { return "-3" }
        if name == "id", let proper, let shared = manner.sharedIDs[proper] { return shared }
        for case .wrongChecksum in faults where name == "checksums" && !node.isFolder {
            return "<oc:checksum>SHA1:\(String(node.content.sha1.reversed()))</oc:checksum>"
        }
        return proper
    }

    func content(of asked: Asked, _ kind: Checksum.Kind?) async throws -> Content {
        var spool = Spool(in: scratchFolder, kind: kind)
        try await asked.receive { try await spool.append($0) }
        return try await spool.content()
    }
}
