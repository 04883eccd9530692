import Synchronization

/// The shares of a demo server's user. What is changed here is changed as if by somebody else.
public final class Shares: Sendable {
    private struct Contents: Sendable {
        var shares: [Int: Share] = [:]
        var last = 0
    }

    private let state = Mutex(Contents())

    init() {}

    /// - Returns: the new share's id.
    @discardableResult public func add(_ share: Share) -> Int {
        state.withLock { state in
            state.last += 1
            state.shares[state.last] = share
            return state.last
        }
    }

    /// - Returns: false if there is no such share.
    @discardableResult public func change(_ id: Int, _ body: (inout Share) -> Void) -> Bool {
        state.withLock { state in
            guard var share = state.shares[id] else { return false }
            body(&share)
            state.shares[id] = share
            return true
        }
    }

    @discardableResult public func remove(_ id: Int) -> Bool {
        state.withLock { $0.shares.removeValue(forKey: id) != nil }
    }

    /// All shares by their ids.
    public var all: [Int: Share] { state.withLock { $0.shares } }
}
