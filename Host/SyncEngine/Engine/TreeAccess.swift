import Threads

/// Decides whose turn it is in the tree: the engine's while its loop works, or that of a task that needs the tree for itself.
final class TreeAccess: Sendable {
    /// How the tree is shared at a moment.
    enum State: Sendable {
        /// Nobody but the engine wants the tree.
        case none
        /// A task waits for the tree, and no task has it.
        case requested
        /// A task has the tree, or was granted it and is about to begin. The engine must not touch the tree.
        case granted
    }

    struct Counts: Sendable {
        /// The engine is not at work: a task gets the tree at once.
        var isOpen = true
        var waiting = 0
        /// So many of the waiting tasks may begin. A task that has asked and does not wait yet is among them.
        var granted = 0
        var inside = 0

        var state: State { inside + granted > 0 ? .granted : waiting > 0 ? .requested : .none }
    }

    let counts = Monitor(Counts())

    /// The state now; it may change at once.
    var state: State { counts.with(\.state) }

    /// Begins the engine's turn. Returns when no task has the tree any more; later tasks wait for ``grant()``.
    func close() async {
        counts.change { $0.isOpen = false }
        await counts.wait { $0.state != .granted }
    }

    /// Ends the engine's turn.
    func open() { counts.change { $0.isOpen = true } }

    /// Grants the tree to all tasks that have asked for it by now.
    func grant() { counts.change { $0.granted = $0.waiting } }

    /// Returns when the caller has the tree, which it then has until ``release()``.
    /// - Parameter ask: Called once it is known that a task waits.
    func acquire(ask: () -> Void) async {
        counts.change { $0.waiting += 1 }
        ask()
        await counts.wait { counts in
            guard counts.isOpen || counts.granted > 0 else { return false }
            counts.waiting -= 1
            counts.granted = max(0, counts.granted - 1)
            counts.inside += 1
            return true
        }
    }

    /// Gives the tree back.
    func release() { counts.change { $0.inside -= 1 } }
}

extension SyncEngine {
    /// Runs a body while the engine neither puts anything into the tree nor takes anything out of it, and each file in place is one that its
    /// item knows of. It is for changes to paths of the tree that go with changes of rows.
    /// - Throws: What `body` throws.
    public func withExclusiveTree<T>(_ body: () async throws -> T) async rethrows -> T {
        await controls.treeAccess.acquire(ask: controls.signal.send)
        defer {
            controls.treeAccess.release()
            controls.signal.send()
        }
        return try await body()
    }
}
