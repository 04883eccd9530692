import Database
public import Model

/// A pause of an account, which a person asked for. While it lasts, nothing is sent to the account's server.
///
/// While a host runs, the pause ends by the monotonic clock. For the next host the end is stored as a time of day. The
/// length is stored too: if the clock was set back in between, the rest of the pause is not longer than the whole.
public struct AccountPause: Hashable, Codable, Sendable {
    /// The time at which the pause ends; nil if it lasts until a person ends it.
    public var until: Timestamp?
    /// The length of the pause in nanoseconds; nil if it has no end.
    private var nanoseconds: Int64?

    /// Creates a pause that begins now.
    /// - Parameter length: The length; nil if the pause has no end.
    init(for length: Duration?, at now: Timestamp) {
        until = length.map { now + $0 }
        nanoseconds = length?.nanoseconds
    }

    /// Returns how long the pause still lasts, zero if it is over; nil if it has no end.
    func left(at now: Timestamp) -> Duration? {
        guard let until else { return nil }
        return min(max(.zero, until - now), .nanoseconds(nanoseconds ?? .max))
    }
}

/// Whether a running account may send requests to its server.
struct NetworkUse: Sendable {
    /// The pause; nil if the account is not paused.
    private(set) var pause: AccountPause?
    /// The end of the pause on the monotonic clock; nil if it has none.
    private(set) var end: Duration?
    /// A number that grows with each change of the pause.
    private(set) var changes = 0
    /// The number of times that everything that sends requests is to begin anew without a pause.
    private(set) var interruptions = 0
    /// Whether the account is kept up to date, so that it can be paused. A single run cannot be paused.
    private(set) var isKept = false
    /// Whether nothing sends requests any more because of the pause.
    private(set) var isHeld = false

    var isPaused: Bool { pause != nil }

    /// Begins to keep the account up to date, with the pause that an earlier host left.
    mutating func begin(with pause: AccountPause?, left: Duration?, at now: Duration) {
        self = NetworkUse()
        isKept = true
        if let pause { begin(pause, until: left.map { now + $0 }) }
    }

    /// Begins a pause, or replaces the present one.
    mutating func begin(_ pause: AccountPause, until end: Duration?) {
        (self.pause, self.end) = (pause, end)
        changes += 1
    }

    /// Has everything that sends requests begin anew.
    mutating func interrupt() { interruptions += 1 }

    /// Notes that nothing sends requests any more.
    mutating func hold() { isHeld = isPaused }

    /// Ends the pause.
    mutating func resume() {
        (pause, end, isHeld) = (nil, nil, false)
        changes += 1
    }
}

extension MetaKey {
    /// The account's ``AccountPause``, as JSON; present while the account is paused.
    static let pause = MetaKey("pause")
}

extension Failure {
    /// The failure of what needs the server of an account that is paused.
    init(_ pause: AccountPause) {
        let until = pause.until.map { " until \(Timestamp(seconds: $0.seconds))" } ?? ""
        self.init(.failed, "the account is paused\(until)", hint: .resume)
    }
}
