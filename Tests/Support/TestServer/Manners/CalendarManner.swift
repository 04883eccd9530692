/// How a server serves calendars, where servers differ. Without changes it behaves as sabre/dav does, which Baïkal,
/// ownCloud and Nextcloud are built on.
public struct CalendarManner: Sendable {
    /// What sync tokens look like (RFC 6578, section 3.7, lets servers choose any URI, and not all keep to that).
    public enum Tokens: Sendable, CaseIterable {
        /// `http://sabre.io/ns/sync/7`.
        case sabre
        /// Letters and digits, no URI, as Xandikos has them.
        case bare
        /// In quotes.
        case quoted
        /// With `&`, `<`, `>`, quotes, and the text `&amp;`.
        case entities
    }

    /// The prefixes of elements' names.
    public enum Prefixes: Sendable, CaseIterable {
        /// `d:`, `cal:`, `cs:`.
        case usual
        /// None for `DAV:`.
        case none
        /// `ns0:`, `ns1:`.
        case numbered
    }

    /// How a property that names an address writes it.
    public enum Addresses: Sendable, CaseIterable {
        /// A path from the server's root.
        case path
        /// With scheme and host.
        case whole
        /// Relative to the request's address, `../calendars/ada/`.
        case relative
    }

    /// What a token is answered with whose changes the server does not know: from the future, or older than its log.
    public enum LostTokens: Sendable {
        /// 207 with what the log has; without any, the token that was sent comes back (sabre/dav).
        case echoed
        /// 207 with what the log has, and the newest token (Nextcloud, ownCloud).
        case newest
        /// `DAV:valid-sync-token` (Radicale, Xandikos).
        case refused
    }

    /// What is done with a `limit` in the request.
    public enum Limit: Sendable {
        /// Deltas are cut, with 507 for the calendar itself and a token of what was listed; initial listings are whole.
        case heeded
        /// The list is cut, and nothing says so: the token is the newest one.
        case silentlyCut
        case ignored
        /// The whole request fails with 507.
        case refused
    }

    /// Whether there is any calendar service at all.
    public var offered = true
    /// What `/.well-known/caldav` redirects with; nil for 404.
    public var wellKnownStatus: Int? = 301
    public var addresses = Addresses.path
    public var prefixes = Prefixes.usual
    public var tokens = Tokens.sabre
    /// Whether the token stands before the members.
    public var tokenFirst = false
    /// Whether `sync-collection` and the `sync-token` property are there; without them a client has `getctag` and ETags.
    public var syncCollection = true
    public var lostTokens = LostTokens.echoed
    /// What comes with `DAV:valid-sync-token`.
    public var invalidTokenStatus = 403
    public var limit = Limit.heeded
    /// At most so many changes in one answer, without being asked: the rest follows after 507.
    public var pageSize: Int?
    /// The status of a removed member; some releases of Nextcloud said 418.
    public var removedStatus = 404
    /// Whether every delta lists all members again that were ever removed.
    public var repeatsRemovals = false
    /// Whether the calendar itself is listed among its members.
    public var listsItself = false
    /// Inbox, outbox, a subscription, a deleted calendar and a trash bin in the listing of the first home.
    public var otherCollections = true

    public init() {}
}
