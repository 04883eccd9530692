import Connection

extension ServerSession {
    /// What a run does next for its account. Times are on the monotonic clock.
    enum Step: Sendable {
        /// Stop everything that sends requests, because of a pause, or because all begins anew; then
        /// ``ServerSession/stopped(since:)``.
        case stop(changes: Int)
        /// Let time pass for the processors, and wait for a time, or until `changes` has changed.
        case restPaused(for: Duration, changes: Int)
        /// End the pause, unless `changes` has changed.
        case endPause(changes: Int)
        /// Stop what sends requests, because the server rejects the account, and say so; with
        /// ``ServerSession/hold(mayPass:at:)``.
        case hold
        /// Read the secret's source; then ``ServerSession/tries(with:at:)``.
        case readSecret
        /// Let time pass for the processors, since the server is not tried; then ``ServerSession/keepRejected(at:)``.
        case passTime
        /// Wait until a time. With `checksSecret`, ``ServerSession/readSecretAgain()`` if the secret's source was written
        /// anew meanwhile.
        case restRefused(until: Duration, nextTry: Duration?, checksSecret: Bool)
        /// Stop what sends requests with the present secret, and ``ServerSession/use(_:)`` another.
        case use(AccountSecret)
        /// Find the server; then ``ServerSession/found(_:)``, or ``ServerSession/endRound(_:after:at:)``.
        case connect
        /// Scan; then ``ServerSession/endRound(_:after:at:)``.
        case scan(ServerFacts)
        /// Wait for a time, and then for a place among the accounts that poll; then ``ServerSession/rested()``.
        case rest(for: Duration)
        /// Wait until a time, because the server was polled just now.
        case restBriefly(until: Duration)

        /// Whether the step is one of an account that is not paused, while hints are heeded.
        var usesNetwork: Bool {
            switch self {
            case .stop, .restPaused, .endPause: false
            case .hold, .readSecret, .passTime, .restRefused, .use, .connect, .scan, .rest, .restBriefly: true
            }
        }
    }
}
