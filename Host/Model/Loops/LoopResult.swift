/// What an event loop's last poll came to.
public enum LoopResult: String, Hashable, Sendable, CaseIterable {
    /// Up to date.
    case ok
    /// There is more to fetch.
    case more
    /// What was cached was too old, and was fetched anew.
    case refresh
    /// The server has nothing to poll here.
    case notOffered
    case error
}
