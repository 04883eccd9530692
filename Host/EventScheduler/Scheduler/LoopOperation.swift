import Model

/// One operation of a loop, as it waits in the queue.
struct LoopOperation: Sendable {
    enum Work: Sendable {
        case turn(Chain)
        /// A report of an error to the loop, because the call that caused the error could not report it.
        case report(EventLoopError)
    }

    let id: UInt64
    let loop: LoopKey
    var work: Work
    /// Whether the operation was triggered by itself, not as a part of a cycle.
    var isTriggered: Bool
    /// The time when the operation's cycle began.
    var cycle: Duration

    var chain: Chain? { if case .turn(let chain) = work { chain } else { nil } }
}

/// The operation that is running. At most one runs at a time.
struct RunningOperation: Sendable {
    enum State: Sendable {
        case polling, processing
        /// A state in which the result is not wanted any more. The next operation may run when this one's call has
        /// ended or is given up.
        case cancelled
    }

    let operation: LoopOperation
    let startedAt: Duration
    var state = State.polling
    /// The time when the call has taken too long.
    var deadline: Duration
}
