import Model

/// One turn of a loop, as it waits in the queue.
struct LoopOperation: Sendable {
    enum Work: Sendable {
        case turn(Chain)
        /// The loop is told of an error, since the call that brought it about could not tell.
        case report(EventLoopError)
    }

    let id: UInt64
    let loop: LoopKey
    var work: Work
    /// Asked for by itself, not as a part of a cycle.
    var isTriggered: Bool
    /// When its cycle began.
    var cycle: Duration

    var chain: Chain? { if case .turn(let chain) = work { chain } else { nil } }
}

/// The operation that occupies the scheduler's only place.
struct RunningOperation: Sendable {
    enum State: Sendable {
        case polling, processing
        /// Its result is not wanted any more; the place is free when its call has ended, or is given up.
        case cancelled
    }

    let operation: LoopOperation
    let startedAt: Duration
    var state = State.polling
    /// When the call has taken too long.
    var deadline: Duration
}
