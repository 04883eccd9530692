/// What a poll came to.
public struct EventPage<Content> {
    /// How far the loop has come with this page; the same as before if there is nothing new. Not empty.
    public var eventID: String
    /// What is cached is too old and is to be fetched anew; empty: nothing.
    public var refresh: RefreshSet
    /// Whether there is more after this page.
    public var more: Bool
    public var content: Content

    public init(eventID: String, refresh: RefreshSet = [], more: Bool = false, content: Content) {
        self.eventID = eventID
        self.refresh = refresh
        self.more = more
        self.content = content
    }
}

/// Where a loop stands after everything was fetched anew.
public struct Anchor: Hashable, Sendable {
    /// Taken before anything was fetched. Not empty.
    public var eventID: String
    /// Whether something is left to fetch, which ``eventID`` tells the next poll.
    public var more: Bool

    public init(eventID: String, more: Bool = false) {
        self.eventID = eventID
        self.more = more
    }
}

/// What is to be fetched anew: bits of the loop's own.
public struct RefreshSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let everything = RefreshSet(rawValue: LARDER_REFRESH_EVERYTHING)
}

/// What a server announces between two polls.
public struct HintSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Files and folders.
    public static let items = HintSet(rawValue: LARDER_HINT_ITEMS)
    public static let shares = HintSet(rawValue: LARDER_HINT_SHARES)
    /// Spaces, memberships, notifications of any kind.
    public static let account = HintSet(rawValue: LARDER_HINT_ACCOUNT)
}

/// Why a turn of a loop failed.
public struct LoopError: Hashable, Sendable {
    /// The class of a failure.
    public enum Code: UInt32, Sendable {
        case missingID = 1
        case outdated, pollFailed, processing, timedOut, noProgress
    }

    /// Nil: of a later version.
    public var code: Code?
    public var status: Status
    /// For people.
    public var message: String

    init(_ error: larder_loop_error) {
        code = Code(rawValue: error.code)
        status = Status(rawValue: error.status)
        message = Text(unsafe: error.message).copied()
    }
}
