import Synchronization

/// The shares of a demo server's user. Changes made here look like changes by another person.
public final class Shares: Sendable {
    private struct Contents: Sendable {
        var shares: [Int: Share] = [:]
        var last = 0
    }

    private let state = Mutex(Contents())

    init() {}

    /// Adds a share.
    /// - Returns: The new share's id.
    @discardableResult public func add(_ share: Share) -> Int {
        state.withLock { state in
            state.last += 1
            state.shares[state.last] = share
            return state.last
        }
    }

    /// Changes a share.
    /// - Returns: False if there is no such share.
    @discardableResult public func change(_ id: Int, _ body: (inout Share) -> Void) -> Bool {
        state.withLock { state in
            guard var share = state.shares[id] else { return false }
            body(&share)
            state.shares[id] = share
            return true
        }
    }

    /// Removes a share.
    /// - Returns: False if there is no such share.
    @discardableResult public func remove(_ id: Int) -> Bool {
        state.withLock { $0.shares.removeValue(forKey: id) != nil }
    }

    /// All shares by their ids.
    public var all: [Int: Share] { state.withLock { $0.shares } }
}
