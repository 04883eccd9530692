import Model

/// The failure of a turn of a loop.
public struct EventLoopError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. It determines when the loop is tried again.
    public enum Kind: String, Sendable, CaseIterable {
        /// A missing event id: the loop never ran, or its cache was dropped. A refresh follows.
        case missingEventID
        /// A page that wants a refresh. The refresh follows.
        case outdated
        /// A poll that did not succeed.
        case network
        /// A server that did not answer at all within the connection's time limit. The other loops of the cycle are not
        /// tried.
        case connectionTimedOut
        /// Credentials that the server rejects. The loop waits for the next start; if it is the core loop, all loops
        /// wait.
        case unauthorized
        /// A loop's request that the server refuses, although it accepts the credentials themselves. The loop waits,
        /// 30 s first and 15 min at most. A trigger does not end the wait; a start does.
        case forbidden
        /// The same as `forbidden`, but for all loops of the loop's kind. After the wait, one of them tries again.
        case refused
        /// A server that asks the account to wait. No loop is polled before `retryAfter` is over.
        case rateLimited
        /// A turn that took longer than the loop's ``LoopLimits``.
        case overdue
        /// A call that cannot begin because something else blocks it, such as a call that hangs. The loop is tried
        /// again at the next tick.
        case busy
        /// A page that was not applied to local storage.
        case processing
        /// A refresh that did not succeed.
        case refreshing
        /// A page that makes no sense.
        case badPage
        /// Two pages in a row that said that there is more, with the same event id.
        case noProgress
        /// An event id that could not be read.
        case storage
    }

    /// The kind of the failure.
    public var kind: Kind
    /// A description of the failure for people: one sentence without a full stop.
    public var message: String
    /// The error that caused the failure, if there is one.
    public var cause: (any Error)?
    /// The time for which the server asks the loop, or with `rateLimited` the account, to wait. The wait is at most a
    /// day.
    public var retryAfter: Duration?

    /// Creates an error.
    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }

    /// Converts an error that a loop's call threw.
    init(_ error: any Error, during kind: Kind) {
        self =
            error as? EventLoopError ?? EventLoopError(kind, (error as? Failure)?.message ?? "\(error)", cause: error)
    }
}
