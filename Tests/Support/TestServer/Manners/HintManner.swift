/// What a server offers to those who want to know of changes without asking for everything. Without changes: nothing.
public struct HintManner: Sendable {
    public enum Notifications: Sendable {
        /// 404.
        case absent
        case listed
        /// 204: nothing on the server notifies, asking again within an hour is in vain.
        case unused
    }

    /// Nextcloud's list of notifications.
    public var notifications = Notifications.absent
    /// Whether the list's ETag is heeded with 304, as up to release 21.
    public var notificationsNotModified = false
    /// Nextcloud's list of activities.
    public var activity = false
    /// Whether the user wants no activities to be listed: 204.
    public var activityUnused = false
    /// OpenCloud's stream of events.
    public var stream = false

    public init() {}
}
