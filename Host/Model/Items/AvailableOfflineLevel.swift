/// The way in which an item is pinned (P32).
public enum AvailableOfflineLevel: String, Sendable, CaseIterable {
    case none
    /// Pinned by a policy for the item itself.
    case direct
    /// Covered by a policy for another item.
    case indirect
}
