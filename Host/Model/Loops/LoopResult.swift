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
