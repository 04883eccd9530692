/// The result of a poll.
///
/// ```swift
/// let page = EventPage(eventID: "8", more: true, content: ["a", "b"])
/// ```
public struct EventPage<Content> {
    /// The loop's position after this page. If nothing is new, it is the same as before. Not empty.
    public var eventID: String
    /// The parts of the cache that are too old and must be fetched anew. Empty: none.
    public var refresh: RefreshSet
    /// Whether there is more after this page.
    public var more: Bool
    /// The content, which ``EventLoop/process(_:of:)`` applies.
    public var content: Content

    /// Creates a page.
    public init(eventID: String, refresh: RefreshSet = [], more: Bool = false, content: Content) {
        self.eventID = eventID
        self.refresh = refresh
        self.more = more
        self.content = content
    }
}

/// A loop's position after everything was fetched anew.
///
/// ```swift
/// let anchor = Anchor(eventID: "42")
/// ```
public struct Anchor: Hashable, Sendable {
    /// The position that the loop took before it fetched anything. Not empty.
    public var eventID: String
    /// Whether something is left to fetch. ``eventID`` tells the next poll what it is.
    public var more: Bool

    /// Creates an anchor.
    public init(eventID: String, more: Bool = false) {
        self.eventID = eventID
        self.more = more
    }
}

/// The parts of a loop's cache that must be fetched anew. Each bit is the loop's own.
///
/// ```swift
/// let names = RefreshSet(rawValue: 0x01), members = RefreshSet(rawValue: 0x02)
/// let isNeeded = RefreshSet.everything.contains([names, members])
/// ```
public struct RefreshSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Everything that the loop keeps.
    public static let everything = RefreshSet(rawValue: LARDER_REFRESH_EVERYTHING)
}

/// Announcements that a server may make between two polls.
///
/// ```swift
/// let hints: HintSet = [.shares, .account]
/// ```
public struct HintSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Files and folders changed.
    public static let items = HintSet(rawValue: LARDER_HINT_ITEMS)
    /// Shares changed.
    public static let shares = HintSet(rawValue: LARDER_HINT_SHARES)
    /// The account changed: its spaces, memberships or notifications of any kind.
    public static let account = HintSet(rawValue: LARDER_HINT_ACCOUNT)
}

/// The reason why a turn of a loop failed.
///
/// ```swift
/// func isTransient(_ error: LoopError) -> Bool {
///     error.code == .pollFailed || error.code == .timedOut
/// }
/// ```
public struct LoopError: Hashable, Sendable {
    /// The class of a failure.
    public enum Code: UInt32, Sendable {
        /// The loop has no event id: it never ran, or its cache was dropped. A refresh follows.
        case missingID = 1
        /// The page asked for a refresh, which follows.
        case outdated = 2
        /// ``EventLoop/poll(_:since:)`` or ``EventLoop/refresh(_:of:)`` failed.
        case pollFailed = 3
        /// ``EventLoop/process(_:of:)`` failed, or its requests were not committed.
        case processing = 4
        /// The host gave the call up because it took too long.
        case timedOut = 5
        /// Pages said that there is more, with the same event id.
        case noProgress = 6
    }

    /// The class of the failure. Nil: a class of a later version.
    public var code: Code?
    /// A status for the failure, as far as the host knows one.
    public var status: Status
    /// A sentence for people.
    public var message: String

    init(_ error: larder_loop_error) {
        code = Code(rawValue: error.code)
        status = Status(rawValue: error.status)
        message = Text(unsafe: error.message).copied()
    }
}
