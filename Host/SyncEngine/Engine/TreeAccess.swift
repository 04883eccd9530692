import Threads

/// Whose turn it is in the tree: the engine's while its loop is at work, or that of visitors who need the tree at rest.
final class TreeAccess: Sendable {
    struct State: Sendable {
        /// Whoever comes may go in at once.
        var isOpen = true
        var waiting = 0
        /// So many of those who wait may go in, also if they have not begun to wait yet.
        var admitted = 0
        var inside = 0

        var treeAccess: Visitors { inside + admitted > 0 ? .inside : waiting > 0 ? .waiting : .none }
    }

    let state = Monitor(State())

    /// The engine's loop begins: visitors wait until it lets them in. Returns when those who are in have left.
    func close() async {
        state.change { $0.isOpen = false }
        await state.wait { $0.visitors != .inside }
    }

    /// The engine's loop has ended.
    func open() { state.change { $0.isOpen = true } }

    /// Lets those in who have asked by now.
    func admit() { state.change { $0.admitted = $0.waiting } }

    /// Who has come.
    enum Visitors: Sendable {
        case none
        /// Somebody waits, and nobody is inside.
        case waiting
        /// Somebody is inside, or about to be: the tree is not the engine's.
        case inside
    }

    var treeAccess: Visitors { state.with(\.visitors) }

    /// Returns when the tree is the visitor's, until ``leave()``.
    /// - Parameter ask: Called once it is known that somebody waits.
    func enter(ask: () -> Void) async {
        state.change { $0.waiting += 1 }
        ask()
        await state.wait { state in
            guard state.isOpen || state.admitted > 0 else { return false }
            state.waiting -= 1
            state.admitted = max(0, state.admitted - 1)
            state.inside += 1
            return true
        }
    }

    func leave() { state.change { $0.inside -= 1 } }
}

extension SyncEngine {
    /// Runs `body` while the engine neither puts anything into the tree nor takes anything out of it, and no file is in place
    /// whose item does not say so: for changes to the paths of the tree that go with changes of rows.
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
