/// Whether an item is pinned (P32).
public enum AvailableOfflineLevel: String, Sendable {
    case none
    /// Pinned itself.
    case direct
    /// A policy for something else covers it.
    case indirect
}
