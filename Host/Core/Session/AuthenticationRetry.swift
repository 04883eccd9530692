public import Model

/// A schedule of the attempts to use an account that the server rejects. If the rejection may pass by itself, the
/// attempts come at growing intervals. Otherwise the next attempt comes with another secret, or with a secret that was
/// written anew. It is a value without I/O; times are on the monotonic clock.
struct AuthenticationRetry: Equatable {
    static let firstWait: Duration = .seconds(30)
    static let longestWait: Duration = .seconds(15 * 60)

    /// The time of the next attempt; nil if there is none before the secret was written anew.
    private(set) var nextTry: Duration?
    /// Whether an attempt is in progress whose result is not known yet.
    private(set) var isTrying = true
    /// The number of rejections in a row that may pass.
    private var passing = 0

    /// Notes that the server has rejected the account.
    /// - Parameters:
    ///   - mayPass: Whether the same secret worked before, or the rejection was not about the secret.
    ///   - now: The time now.
    mutating func refused(mayPass: Bool, at now: Duration) {
        isTrying = false
        guard mayPass else {
            (nextTry, passing) = (nil, 0)
            return
        }
        var wait = Self.firstWait
        for _ in 0..<passing where wait < Self.longestWait { wait = min(wait * 2, Self.longestWait) }
        nextTry = now + wait
        passing += 1
    }

    /// Tells whether an attempt is due now. If so, the attempt counts as in progress.
    mutating func tries(hasNewSecret: Bool, at now: Duration) -> Bool {
        guard hasNewSecret || nextTry.map({ $0 <= now }) ?? false else { return false }
        isTrying = true
        return true
    }
}

/// The account and the time of the last secret that the server accepted. It holds nothing of the secret itself.
struct WorkedSecret: Codable, Equatable {
    var url: String
    var username: String?
    /// The identity of the write of the secret's source; nil if the source has none.
    var writing: String?
    /// The time when the server accepted the secret, in nanoseconds since 1970.
    var at: Int64

    init(_ bookmark: Bookmark, writing: String?, at time: Timestamp) {
        (url, username, self.writing, at) = (bookmark.url, bookmark.username, writing, time.nanoseconds)
    }

    /// Tells whether both are about the same account and the same write of the secret's source.
    func isSame(as other: WorkedSecret) -> Bool {
        var other = other
        other.at = at
        return self == other
    }
}

/// A server's rejection of an account, as the status reports it.
public struct AuthenticationFailure: Codable, Equatable, Sendable {
    /// The server's message.
    public var message: String
    private var sinceNanoseconds: Int64
    private var nextNanoseconds: Int64?

    /// Creates a report of a rejection.
    public init(message: String, since: Timestamp, nextTry: Timestamp?) {
        self.message = message
        sinceNanoseconds = since.nanoseconds
        nextNanoseconds = nextTry?.nanoseconds
    }

    /// The time of the first rejection in a row.
    public var since: Timestamp { Timestamp(nanoseconds: sinceNanoseconds) }
    /// The time of the next attempt; nil if the next attempt comes when the secret was written anew, or when a host
    /// runs.
    public var nextTry: Timestamp? {
        get { nextNanoseconds.map(Timestamp.init(nanoseconds:)) }
        set { nextNanoseconds = newValue?.nanoseconds }
    }
}
