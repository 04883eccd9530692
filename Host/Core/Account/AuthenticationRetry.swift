public import Model

/// When an account is asked again that the server refuses: with growing waits if that may pass by itself, else with another secret, or one
/// that was written anew. A value without I/O; times are on the monotonic clock.
struct AuthenticationRetry: Equatable {
    static let firstWait: Duration = .seconds(30)
    static let longestWait: Duration = .seconds(15 * 60)

    /// When it is asked again; nil: not before the secret was written anew.
    private(set) var nextTry: Duration?
    /// Whether what became of the last try is not known yet.
    private(set) var isTrying = true
    /// Refusals in a row that may pass.
    private var passing = 0

    /// The server has refused it.
    /// - Parameter mayPass: whether the same secret worked before, or it was not about the secret.
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

    /// Whether the server is asked now, which is then under way.
    mutating func tries(hasNewSecret: Bool, at now: Duration) -> Bool {
        guard hasNewSecret || nextTry.map({ $0 <= now }) ?? false else { return false }
        isTrying = true
        return true
    }
}

/// The last secret that the server took, by account and time: nothing of the secret itself.
struct WorkedSecret: Codable, Equatable {
    var url: String
    var username: String?
    /// Which writing of its source it was; nil: the source does not tell.
    var writing: String?
    /// In nanoseconds since 1970.
    var at: Int64

    init(_ bookmark: Bookmark, writing: String?, at time: Timestamp) {
        (url, username, self.writing, at) = (bookmark.url, bookmark.username, writing, time.nanoseconds)
    }

    /// Whether it is the same account's, from the same writing of its source.
    func isSame(as other: WorkedSecret) -> Bool {
        var other = other
        other.at = at
        return self == other
    }
}

/// That the server refuses an account, as the status tells it.
public struct AuthenticationFailure: Codable, Equatable, Sendable {
    /// What it said.
    public var message: String
    private var sinceNanoseconds: Int64
    private var nextNanoseconds: Int64?

    public init(message: String, since: Timestamp, nextTry: Timestamp?) {
        self.message = message
        sinceNanoseconds = since.nanoseconds
        nextNanoseconds = nextTry?.nanoseconds
    }

    public var since: Timestamp { Timestamp(nanoseconds: sinceNanoseconds) }
    /// When it is asked again; nil: when its secret was written anew, or when a host runs.
    public var nextTry: Timestamp? {
        get { nextNanoseconds.map(Timestamp.init(nanoseconds:)) }
        set { nextNanoseconds = newValue?.nanoseconds }
    }
}
