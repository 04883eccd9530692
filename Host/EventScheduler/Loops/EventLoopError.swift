/// Why a turn of a loop failed.
public struct EventLoopError: Error, Sendable, CustomStringConvertible {
    /// The class of a failure, which says when the loop is tried again.
    public enum Kind: String, Sendable, CaseIterable {
        /// The loop has no event id: it never ran, or its cache was dropped. A refresh follows.
        case missingEventID
        /// The page wants a refresh, which follows.
        case outdated
        /// The poll did not succeed.
        case network
        /// The server did not answer at all in the connection's time: the cycle's other loops are not tried.
        case connectionTimedOut
        /// The credentials are refused: the loop, or all if it is the core loop, wait for the next start.
        case unauthorized
        /// What the loop asks for is refused, and not the credentials themselves: it waits, for 30 s first and 15 min at most, also when it
        /// is triggered, but not over a start.
        case forbidden
        /// The same, for all loops of its kind: one of them tries.
        case refused
        /// The server asks the account to wait: no loop is polled before `retryAfter` is over.
        case rateLimited
        /// The turn took longer than the loop's ``LoopLimits``.
        case overdue
        /// What the loop would call is held up by something else, such as a call that hangs. Tried again at the next tick.
        case busy
        /// The page was not applied to local storage.
        case processing
        /// Fetching everything anew did not succeed.
        case refreshing
        /// The page makes no sense.
        case badPage
        /// Two pages in a row said that there is more, with the same event id.
        case noProgress
        /// The event id could not be read.
        case storage
    }

    public var kind: Kind
    /// What happened, for people: one sentence without a full stop.
    public var message: String
    public var cause: (any Error)?
    /// How long the server asks to wait: the loop, or with `rateLimited` the account. A day at most is waited.
    public var retryAfter: Duration?

    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.retryAfter = retryAfter
    }

    public var description: String { message }

    /// What a call of a loop threw.
    init(_ error: any Error, during kind: Kind) {
        self = error as? EventLoopError ?? EventLoopError(kind, "\(error)", cause: error)
    }
}
