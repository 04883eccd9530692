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

    /// Whether somebody waits or is inside.
    var isWanted: Bool { state.with { $0.waiting > 0 || $0.inside > 0 } }

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
