import DemoServer
import Synchronization

/// What the server forbids its user beyond what the demo server forbids.
final class Rules: Sendable {
    let locks = Mutex(Locks())
    /// The number of bytes that the user's files may have together; nil for no limit.
    let quota = Mutex<Int?>(nil)
}

extension TestServer {
    /// The number of bytes that the user's files may have together; nil for no limit. The functions of `Tree` may go
    /// beyond it.
    public var quota: Int? {
        get { rules.quota.withLock { $0 } }
        set { rules.quota.withLock { $0 = newValue } }
    }

    /// Locks an item, with everything below it, for another person for half an hour.
    /// - Parameters:
    ///   - path: The item's path.
    ///   - owner: The person's name.
    /// - Returns: The lock's token.
    @discardableResult public func lock(_ path: String, owner: String) -> String {
        let (path, now) = (TreePath(path), tree.now)
        let lock = Lock(
            token: Lock.newToken(), root: path, node: tree.node(at: path)?.id, href: path.encoded, isDeep: true,
            owner: XMLWriter.escaped(owner), ownerText: owner, end: now + Locking.usual)
        rules.locks.withLock { $0.add(lock, now: now) }
        return lock.token
    }

    /// Removes a lock.
    /// - Returns: False if the item is not locked with the token.
    @discardableResult public func unlock(_ path: String, _ token: String) -> Bool {
        let (path, now) = (TreePath(path), tree.now)
        return tree.read { state in
            rules.locks.withLock { $0.remove(token, at: path, in: state, now: now) }
        }
    }

    /// Tells whether an item is locked.
    public func isLocked(_ path: String) -> Bool {
        let (path, now) = (TreePath(path), tree.now)
        return tree.read { state in
            rules.locks.withLock { !$0.covering(path, in: state, now: now).isEmpty }
        }
    }
}
