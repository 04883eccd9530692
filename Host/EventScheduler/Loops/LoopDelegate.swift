public import Model

/// Whom a loop tells that something has come or gone that has a special loop of its own. It does not keep the scheduler alive.
public protocol LoopDelegate: Sendable {
    /// Has the special loop with this id polled from the next refill on.
    func enableSpecialLoop(_ id: LoopKey) async
    /// Stops the special loop with this id: what of it is queued is dropped, what is under way is cancelled.
    func disableSpecialLoop(_ id: LoopKey) async
}
