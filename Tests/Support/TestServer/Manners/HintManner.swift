/// The hints of changes that a server offers, so that clients need not ask for everything. The default is none.
public struct HintManner: Sendable {
    /// The state of the list of notifications.
    public enum Notifications: Sendable {
        /// Status 404.
        case absent
        case listed
        /// Status 204: nothing on the server sends notifications, and asking again within an hour is useless.
        case unused
    }

    /// The manner of Nextcloud's list of notifications.
    public var notifications = Notifications.absent
    /// Whether the server heeds the list's ETag and answers 304, as Nextcloud does up to release 21.
    public var notificationsNotModified = false
    /// Whether the server has Nextcloud's list of activities.
    public var activity = false
    /// Whether the user has switched the listing of activities off, so that the answer is 204.
    public var activityUnused = false
    /// Whether the server has OpenCloud's stream of events.
    public var stream = false

    public init() {}
}
