/// The state of an event loop, as it is stored and shown.
public struct LoopState: Hashable, Codable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case id, kind, plugin
        case isEnabled = "enabled"
        case eventID, lastPoll, lastResult, lastError, nextPoll
        case failures = "_failures"
    }

    private let id: LoopID
    private let kind: LoopKind
    /// The plugin that runs the loop.
    public var plugin: PluginID
    /// Whether the loop is enabled. A person can disable it.
    public var isEnabled: Bool
    /// The event id that the loop has reached. Nil if the loop has not run yet, or its cache was dropped.
    public var eventID: EventID?
    /// The time of the last poll.
    public var lastPoll: Timestamp?
    /// The result of the last poll.
    public var lastResult: LoopResult?
    /// The reason why the last poll failed, as a text for people.
    public var lastError: String?
    /// The time of the next poll.
    public var nextPoll: Timestamp?
    /// The number of polls that failed since the last successful one.
    public var failures: Int

    /// Creates a state.
    public init(
        key: LoopKey, plugin: PluginID, isEnabled: Bool = true, eventID: EventID? = nil, lastPoll: Timestamp? = nil,
        lastResult: LoopResult? = nil, lastError: String? = nil, nextPoll: Timestamp? = nil, failures: Int = 0
    ) {
        (id, kind) = (key.id, key.kind)
        self.plugin = plugin
        self.isEnabled = isEnabled
        self.eventID = eventID
        self.lastPoll = lastPoll
        self.lastResult = lastResult
        self.lastError = lastError
        self.nextPoll = nextPoll
        self.failures = failures
    }

    /// The loop's key.
    public var key: LoopKey { LoopKey(kind: kind, id: id) }
}

/// The result of an event loop's last poll.
public enum LoopResult: String, Hashable, Codable, Sendable, CaseIterable {
    /// A loop that is up to date.
    case ok
    /// A loop with more to fetch.
    case more
    /// A cache that was too old and was fetched again.
    case refresh
    /// A server that has nothing to poll here.
    case notOffered
    case error
}
