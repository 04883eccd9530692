import HTTPTypes

/// The answers to LOCK and UNLOCK (RFC 4918, sections 9.10 and 9.11). Locks are exclusive.
struct Locking: Sendable {
    /// The longest time that a lock is kept without being renewed, in seconds.
    static let longest: Int64 = 86_400
    static let usual: Int64 = 1_800

    let tree: Tree
    let request: WriteRequest

    func lock(_ body: [UInt8]) throws(Refusal) -> Answer {
        let lifetime = lifetime
        guard !body.isEmpty else { return try renew(lifetime) }
        guard let info = XMLElement(document: body), info.name == .dav("lockinfo") else {
            throw .malformed("The body is no lockinfo")
        }
        guard info.child(.dav("lockscope"))?.child(.dav("exclusive")) != nil,
            info.child(.dav("locktype"))?.child(.dav("write")) != nil
        else { throw .notPermitted("take locks other than exclusive write locks") }
        let owner = info.child(.dav("owner"))
        let path = request.path
        let isDeep = try isDeep()
        return try tree.with { (state) throws(Refusal) in
            let there = state.node(at: path)
            if let there {
                if !there.isFolder { try request.require(.write, of: there, to: "write this file") }
            } else {
                try request.require(.createFile, of: request.folder(of: path, state), to: "create files in this folder")
                try request.checkLocks(state, [(path, .folder)])
            }
            try request.checkConditions(state)
            if let other = state.locks.obstacle(to: path, isDeep ? .below : [], tokens: [], now: request.now) {
                throw .conflictingLock(other)
            }
            if there == nil { _ = try state.put(.none, at: path, modified: request.now) }
            let writer = XMLWriter.files
            let isFolder = there?.isFolder ?? false
            let lock = Lock(
                token: Lock.newToken(), root: path, href: request.base + path.encoded + (isFolder ? "/" : ""),
                isDeep: isDeep, owner: owner.map(writer.content(of:)) ?? "", ownerText: owner?.allText ?? "",
                lifetime: lifetime, end: request.now + lifetime)
            state.locks.add(lock, now: request.now)
            return answer(there == nil ? .created : .ok, lock)
        }
    }

    func unlock() throws(Refusal) -> Answer {
        guard let field = request.fields[named: "Lock-Token"], field.hasPrefix("<"), field.hasSuffix(">") else {
            throw .malformed("No lock token was supplied")
        }
        let token = String(field.dropFirst().dropLast())
        return try tree.with { (state) throws(Refusal) in
            guard state.node(at: request.path) != nil else { throw .notFound }
            guard state.locks.remove(token, at: request.path, now: request.now) else { throw .wrongToken }
            return Answer(.noContent)
        }
    }

    private func renew(_ lifetime: Int64) throws(Refusal) -> Answer {
        guard let tokens = try request.ifHeader()?.tokens else {
            throw .malformed("A LOCK without a body must name the lock in an If field")
        }
        return try tree.with { (state) throws(Refusal) in
            let held = state.locks.covering(request.path, now: request.now)
            guard let lock = held.first(where: { tokens.contains($0.token) }) else { throw .preconditionFailed }
            state.locks.renew(lock.token, lifetime: lifetime, now: request.now)
            var renewed = lock
            (renewed.lifetime, renewed.end) = (lifetime, request.now + lifetime)
            return answer(.ok, renewed, isNew: false)
        }
    }

    private func answer(_ status: HTTPResponse.Status, _ lock: Lock, isNew: Bool = true) -> Answer {
        let writer = XMLWriter.files
        let discovery = writer.element(.dav("lockdiscovery"), lock.xml(now: request.now))
        var answer = Answer(
            status, type: "application/xml; charset=utf-8", text: writer.document(.dav("prop"), discovery))
        if isNew { answer.fields[named: "Lock-Token"] = "<\(lock.token)>" }
        return answer
    }

    private func isDeep() throws(Refusal) -> Bool {
        switch Listing.Depth(request.fields[named: "Depth"]) {
        case .infinity?: true
        case .zero?: false
        default: throw .malformed("The Depth of a lock must be 0 or infinity")
        }
    }

    /// The time that the request wants, as far as the server gives it.
    private var lifetime: Int64 {
        let wanted = (request.fields[named: "Timeout"] ?? "").split(separator: ",").lazy.compactMap { entry -> Int64? in
            let entry = entry.drop { $0 == " " }
            if entry.lowercased() == "infinite" { return Self.longest }
            return entry.hasPrefix("Second-") ? Int64(entry.dropFirst(7)) : nil
        }
        return min(max(1, wanted.first ?? Self.usual), Self.longest)
    }
}

extension XMLElement {
    /// The text of the element and of everything in it, without the white space at its ends.
    fileprivate var allText: String {
        let whole = ([text] + children.map(\.allText)).joined()
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        var rest = whole.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return String(rest)
    }
}
