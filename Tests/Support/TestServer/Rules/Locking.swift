import DemoServer
import HTTPTypes
import Synchronization

/// The answers to LOCK and UNLOCK (RFC 4918, sections 9.10 and 9.11). Locks are exclusive.
struct Locking: Sendable {
    /// The longest time that a lock is kept without being renewed, in seconds.
    static let longest: Int64 = 86_400
    static let usual: Int64 = 1_800

    let tree: Tree
    let rules: Rules
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
                if !there.isFolder { try request.requirePermission(toWrite: path, in: state) }
            } else {
                try request.requireFolder(of: path, in: state)
                try request.behavior.check(.write(growth: 0), by: request, in: state)
            }
            try request.checkConditions(state)
            let reach: Locks.Reach = isDeep ? .below : []
            if let other = rules.locks.withLock({
                $0.obstacle(to: path, reach, tokens: [], in: state, now: request.now)
            }) {
                throw .locked(other, lacking: "no-conflicting-lock")
            }
            let node: Node
            if let there { node = there } else { node = try state.put(.none, at: path, modified: request.now) }
            let writer = XMLWriter.files
            let lock = Lock(
                token: Lock.newToken(), root: path, node: node.id,
                href: request.base + path.encoded + (node.isFolder ? "/" : ""),
                isDeep: isDeep, owner: owner.map(writer.content(of:)) ?? "", ownerText: owner?.allText ?? "",
                end: request.now + lifetime)
            rules.locks.withLock { $0.add(lock, now: request.now) }
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
            guard rules.locks.withLock({ $0.remove(token, at: request.path, in: state, now: request.now) }) else {
                throw .other(
                    409, exception: "LockTokenMatchesRequestUri", "The lock token names no lock of this item",
                    more: XMLWriter.files.element(.dav("lock-token-matches-request-uri")))
            }
            return Answer(.noContent)
        }
    }

    private func renew(_ lifetime: Int64) throws(Refusal) -> Answer {
        guard let tokens = try request.ifHeader()?.tokens else {
            throw .malformed("A LOCK without a body must name the lock in an If field")
        }
        return try tree.with { (state) throws(Refusal) in
            let held = rules.locks.withLock { $0.covering(request.path, in: state, now: request.now) }
            guard var lock = held.first(where: { tokens.contains($0.token) }) else { throw .preconditionFailed }
            rules.locks.withLock { $0.renew(lock.token, lifetime: lifetime, now: request.now) }
            lock.end = request.now + lifetime
            return answer(.ok, lock, isNew: false)
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
