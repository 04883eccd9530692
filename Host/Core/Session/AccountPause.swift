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
