import Threads

/// Whose turn it is in the tree: the engine's while its loop is at work, or that of visitors who need the tree at rest.
final class TreeRest: Sendable {
    private struct State: Sendable {
        /// Whoever comes may go in at once.
        var isOpen = true
        var waiting = 0
        var inside = 0
    }

    private let state = Monitor(State())

    /// The engine's loop begins: visitors wait until it lets them in.
    func close() { state.change { $0.isOpen = false } }

    /// The engine's loop has ended.
    func open() { state.change { $0.isOpen = true } }

    /// Lets those in who wait now.
    func admit() {
        open()
        close()
    }

    /// Who has come.
    enum Visitors: Sendable {
        case none
        /// Somebody waits, and nobody is inside.
        case waiting
        /// Somebody is inside: the tree is not the engine's.
        case inside
    }

    var visitors: Visitors { state.with { $0.inside > 0 ? .inside : $0.waiting > 0 ? .waiting : .none } }

    /// Returns when the tree is the visitor's, until ``leave()``.
    /// - Parameter ask: Called once it is known that somebody waits.
    func enter(ask: () -> Void) async {
        state.change { $0.waiting += 1 }
        ask()
        await state.wait { state in
            guard state.isOpen else { return false }
            state.waiting -= 1
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
    public func withTreeAtRest<T>(_ body: () async throws -> T) async rethrows -> T {
        await controls.rest.enter(ask: controls.bell.ring)
        defer {
            controls.rest.leave()
            controls.bell.ring()
        }
        return try await body()
    }
}
