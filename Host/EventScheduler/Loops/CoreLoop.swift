public import Model

/// The loop that tells of the others' coming and going; the first of every cycle.
public protocol CoreLoop: EventLoop {
    /// Called once, when the loop is enabled. The delegate does not keep the scheduler alive.
    func setDelegate(_ delegate: any CoreLoopDelegate)
}

/// Whom a core loop tells that something is gone for which there was a special loop.
public protocol CoreLoopDelegate: AnyObject, Sendable {
    /// Stops the special loop with this id: what of it is queued is dropped, what is under way is cancelled.
    func disableSpecialLoop(_ id: LoopKey) async
}
