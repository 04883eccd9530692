public import Model

/// A report on a turn of a loop, for logs and the status.
public struct TurnReport: Sendable {
    /// The loop.
    public var loop: LoopKey
    /// The result of the turn.
    public var result: LoopResult
    /// The failure of the turn, if ``result`` is `error`.
    public var error: EventLoopError?
    /// The loop's event id before the turn; nil also if the id was not read.
    public var idBefore: EventID?
    /// The loop's event id after the turn.
    public var idAfter: EventID?
    /// Whether everything was fetched anew.
    public var hasRefreshed: Bool
    /// The duration of the turn.
    public var duration: Duration
    /// The number of failed turns since the last successful turn.
    public var failures: Int
    /// The time from now until the next poll of the loop, by the plain period; nil if the loop is not polled by itself.
    public var nextPollIn: Duration?
}

/// The loops that a scheduler polls.
public struct EnabledLoops: Sendable, Hashable {
    /// The core loop, if it is enabled.
    public var core: LoopKey?
    /// The special loops in the order in which they were enabled.
    public var special: [LoopKey]

    /// Creates a value.
    public init(core: LoopKey? = nil, special: [LoopKey] = []) {
        self.core = core
        self.special = special
    }
}
