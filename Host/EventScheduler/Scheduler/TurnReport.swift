public import Model

/// What a turn of a loop came to, for who logs and shows it.
public struct TurnReport: Sendable {
    public var loop: LoopKey
    public var result: LoopResult
    /// Why the turn failed, if ``result`` is `error`.
    public var error: EventLoopError?
    /// How far the loop had come before; nil also if that was not read.
    public var idBefore: EventID?
    public var idAfter: EventID?
    /// Whether everything was fetched anew.
    public var hasRefreshed: Bool
    public var duration: Duration
    /// How many turns failed since the last good one.
    public var failures: Int
    /// In what time from now the loop is polled again, by the plain period; nil: not by itself.
    public var nextPollIn: Duration?
}

/// What a scheduler polls.
public struct EnabledLoops: Sendable, Hashable {
    public var core: LoopKey?
    /// In the order of enabling.
    public var special: [LoopKey]

    public init(core: LoopKey? = nil, special: [LoopKey] = []) {
        self.core = core
        self.special = special
    }
}
