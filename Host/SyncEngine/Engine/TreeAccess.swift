import Threads

/// The turns in the tree: either the engine uses the tree while its loop works, or a task has exclusive access.
final class TreeAccess: Sendable {
    /// The way in which the tree is shared at a moment.
    enum State: Sendable {
        /// A tree that no task but the engine wants.
        case none
        /// A tree for which a task waits, and which no task has.
        case requested
        /// A tree that a task has, or that was granted to a task which is about to begin. The engine must not touch the
        /// tree.
        case granted
    }

    struct Counts: Sendable {
        /// Whether the engine is not at work, so that a task gets the tree at once.
        var isOpen = true
        var waiting = 0
        /// The number of waiting tasks that may begin. A task that has asked and does not wait yet is among them.
        var granted = 0
        var inside = 0

        var state: State { inside + granted > 0 ? .granted : waiting > 0 ? .requested : .none }
    }

    let counts = Monitor(Counts())

    /// The state now. The state may change immediately after the read.
    var state: State { counts.with(\.state) }

    /// Begins the engine's turn. Returns when no task has the tree any more. Later tasks wait for ``grant()``.
    func close() async {
        counts.change { $0.isOpen = false }
        await counts.wait { $0.state != .granted }
    }

    /// Ends the engine's turn.
    func open() { counts.change { $0.isOpen = true } }

    /// Grants the tree to all tasks that have asked for it so far.
    func grant() { counts.change { $0.granted = $0.waiting } }

    /// Waits until the caller has the tree. The caller then has the tree until ``release()``.
    /// - Parameter ask: Called when the waiting task is already counted.
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
