public import Model

/// The delegate that a loop tells when something that has a special loop of its own was added or removed. It does not
/// keep the scheduler alive.
public protocol LoopDelegate: Sendable {
    /// Has the special loop with this id polled: for the first time in the refill that is under way, behind the loops
    /// that wait, and then with each refill.
    func enableSpecialLoop(_ id: LoopKey) async
    /// Stops the special loop with this id. Its queued operations are dropped, and its operation in progress is
    /// cancelled.
    func disableSpecialLoop(_ id: LoopKey) async
}
