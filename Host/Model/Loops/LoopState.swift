/// What is known of an event loop, as it is kept and shown.
public struct LoopState: Hashable, Sendable {
    public var key: LoopKey
    public var plugin: PluginID
    /// Whether a person has not switched it off.
    public var isEnabled: Bool
    /// Nil: it has not run yet, or its cache was dropped.
    public var eventID: EventID?
    public var lastPoll: Timestamp?
    public var lastResult: LoopResult?
    /// Why the last poll failed, for people.
    public var lastError: String?
    public var nextPoll: Timestamp?
    /// How many polls failed since the last good one.
    public var failures: Int

    public init(
        key: LoopKey, plugin: PluginID, isEnabled: Bool = true, eventID: EventID? = nil, lastPoll: Timestamp? = nil,
        lastResult: LoopResult? = nil, lastError: String? = nil, nextPoll: Timestamp? = nil, failures: Int = 0
    ) {
        self.key = key
        self.plugin = plugin
        self.isEnabled = isEnabled
        self.eventID = eventID
        self.lastPoll = lastPoll
        self.lastResult = lastResult
        self.lastError = lastError
        self.nextPoll = nextPoll
        self.failures = failures
    }
}
