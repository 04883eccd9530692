import DemoServer
import Digests

/// An exclusive write lock (RFC 4918, section 6).
struct Lock: Sendable {
    let token: String
    /// The path of the locked item.
    let root: TreePath
    /// The id of the locked item. The lock ends when the item is no longer at the path.
    let node: UInt64?
    /// The encoded path of the locked item on the server.
    let href: String
    /// Whether the lock also covers everything below the item.
    let isDeep: Bool
    /// What the client says of the lock's owner, as XML.
    let owner: String
    let ownerText: String
    /// The time in seconds since 1970 at which the lock ends.
    var end: Int64

    func holds(in state: TreeState, now: Int64) -> Bool { end > now && state.node(at: root)?.id == node }

    func covers(_ path: TreePath) -> Bool { isDeep ? root.contains(path) : root == path }

    static func newToken() -> String {
        let digits = hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        var rest = digits[...]
        let groups = [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        return "opaquelocktoken:" + groups.joined(separator: "-")
    }

    /// The lock as `activelock` in XML.
    /// - Parameter now: The time in seconds since 1970.
    func xml(now: Int64) -> String {
        let writer = XMLWriter.files
        var content = writer.element(.dav("lockscope"), writer.element(.dav("exclusive")))
        content += writer.element(.dav("locktype"), writer.element(.dav("write")))
        content += writer.text(.dav("depth"), isDeep ? "infinity" : "0")
        if !owner.isEmpty { content += writer.element(.dav("owner"), owner) }
        content += writer.text(.dav("timeout"), "Second-\(max(0, end - now))")
        content += writer.element(.dav("locktoken"), writer.text(.dav("href"), token))
        content += writer.element(.dav("lockroot"), writer.text(.dav("href"), href))
        return writer.element(.dav("activelock"), content)
    }
}

/// The locks of a tree.
struct Locks: Sendable {
    /// The items that a request changes besides the one that it names.
    struct Reach: OptionSet {
        let rawValue: Int

        /// The list of the names in the item's folder.
        static let folder = Reach(rawValue: 1)
        /// Everything below the item.
        static let below = Reach(rawValue: 2)
    }

    private var all: [Lock] = []

    /// Returns the locks that cover an item.
    func covering(_ path: TreePath, in state: TreeState, now: Int64) -> [Lock] {
        all.filter { $0.covers(path) && $0.holds(in: state, now: now) }
    }

    /// Returns a lock that a change of an item violates; nil for none.
    func obstacle(to path: TreePath, _ reach: Reach, tokens: Set<String>, in state: TreeState, now: Int64) -> Lock? {
        all.first { lock in
            guard lock.holds(in: state, now: now), !tokens.contains(lock.token) else { return false }
            return lock.covers(path) || reach.contains(.folder) && lock.root == path.folder
                || reach.contains(.below) && path.contains(lock.root)
        }
    }

    mutating func add(_ lock: Lock, now: Int64) {
        all.removeAll { $0.end <= now }
        all.append(lock)
    }

    /// Removes a lock that covers an item.
    /// - Returns: False if there is no such lock.
    mutating func remove(_ token: String, at path: TreePath, in state: TreeState, now: Int64) -> Bool {
        let count = all.count
        all.removeAll { $0.token == token && $0.covers(path) && $0.holds(in: state, now: now) }
        return all.count < count
    }

    /// Begins a lock's time anew.
    mutating func renew(_ token: String, lifetime: Int64, now: Int64) {
        for index in all.indices where all[index].token == token { all[index].end = now + lifetime }
    }
}

extension Refusal {
    /// The refusal because of a lock.
    /// - Parameters:
    ///   - lock: The lock.
    ///   - precondition: The precondition that is not met.
    static func locked(_ lock: Lock, lacking precondition: String) -> Refusal {
        let writer = XMLWriter.files
        let owner = lock.ownerText.isEmpty ? "somebody" : lock.ownerText
        return .other(
            423, exception: "Locked", "\(lock.root.text) is locked by \(owner)",
            more: writer.element(.dav(precondition), writer.text(.dav("href"), lock.href))
                + writer.element(.dav("owner"), lock.owner))
    }
}
