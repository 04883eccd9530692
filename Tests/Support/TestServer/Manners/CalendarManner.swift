/// The manner in which a server serves calendars, where servers differ. The defaults are those of sabre/dav, on which
/// Baïkal, ownCloud and Nextcloud are built.
public struct CalendarManner: Sendable {
    /// The form of sync tokens. RFC 6578, section 3.7, lets servers choose any URI, and not all servers keep to URIs.
    public enum Tokens: Sendable, CaseIterable {
        /// `http://sabre.io/ns/sync/7`.
        case sabre
        /// Letters and digits that are not a URI, as in Xandikos.
        case bare
        /// A text in quotes.
        case quoted
        /// A text with `&`, `<`, `>`, quotes, and the text `&amp;`.
        case entities
    }

    /// The prefixes of element names.
    public enum Prefixes: Sendable, CaseIterable {
        /// `d:`, `cal:`, `cs:`.
        case usual
        /// No prefix for `DAV:`.
        case none
        /// `ns0:`, `ns1:`.
        case numbered
    }

    /// The form of addresses in properties.
    public enum Addresses: Sendable, CaseIterable {
        /// A path from the server's root.
        case path
        /// An address with scheme and host.
        case whole
        /// A path relative to the request's address, such as `../calendars/ada/`.
        case relative
    }

    /// The answer to a token whose changes the server does not know: a token from the future, or one older than the
    /// server's log.
    public enum LostTokens: Sendable {
        /// Status 207 with the changes in the log; if there are none, with the token of the request (sabre/dav).
        case echoed
        /// Status 207 with the changes in the log, and the newest token (Nextcloud, ownCloud).
        case newest
        /// The error `DAV:valid-sync-token` (Radicale, Xandikos).
        case refused
    }

    /// The server's handling of a `limit` in the request.
    public enum Limit: Sendable {
        /// Deltas are cut, with 507 for the calendar itself and a token for the listed changes. Initial listings are
        /// whole.
        case heeded
        /// The list is cut without any sign of it, and the token is the newest one.
        case silentlyCut
        /// The whole list is given.
        case ignored
        /// The whole request fails with 507.
        case refused
    }

    /// Whether the server has a calendar service.
    public var offered = true
    /// The status with which `/.well-known/caldav` redirects; nil answers 404.
    public var wellKnownStatus: Int? = 301
    /// The form of addresses in properties.
    public var addresses = Addresses.path
    /// The prefixes of element names.
    public var prefixes = Prefixes.usual
    /// The form of sync tokens.
    public var tokens = Tokens.sabre
    /// Whether the token precedes the members.
    public var tokenFirst = false
    /// Whether the server offers `sync-collection` and the `sync-token` property. Without them a client has `getctag`
    /// and ETags.
    public var syncCollection = true
    /// The answer to a token whose changes the server does not know.
    public var lostTokens = LostTokens.echoed
    /// The status of an answer with `DAV:valid-sync-token`.
    public var invalidTokenStatus = 403
    /// The handling of a `limit` in the request.
    public var limit = Limit.heeded
    /// The largest number of changes in one answer, even without a `limit`. The rest follows after 507.
    public var pageSize: Int?
    /// The status of a removed member. Some releases of Nextcloud send 418.
    public var removedStatus = 404
    /// Whether every delta lists again all members that were ever removed.
    public var repeatsRemovals = false
    /// Whether the server lists the calendar itself among its members.
    public var listsItself = false
    /// Whether the user's home also lists an inbox, an outbox, a subscription, a deleted calendar and a trash bin.
    public var otherCollections = true

    public init() {}
}
