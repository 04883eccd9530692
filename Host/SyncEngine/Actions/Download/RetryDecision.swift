import Model

/// What follows for a record from a failure. Pure, so that the whole table can be tested at once.
enum RetryDecision: Hashable, Sendable {
    /// It goes on at this time.
    case wait(until: Timestamp, attempts: Int)
    /// Its folder is listed again, and it goes on with what that tells.
    case relist(rounds: Int)
    /// A person decides.
    case ask(IssueCode)
    /// It is not on the server either, like what the list lacks: it goes on with the decision about that.
    case hold(WaitCondition)
    /// It is ready again; what holds it up holds up all.
    case putBack

    /// How often one file is tried before a person is asked.
    static let longestRow = 5
    /// How often new metadata is waited for.
    static let mostRounds = 3

    /// - Parameters:
    ///   - attempts: How often the record failed before.
    ///   - rounds: How often new metadata was waited for.
    ///   - serverIsWell: Whether other files are being answered. If not, no person is asked about each of them.
    ///   - delay: The back-off for that many failures in a row and the server's wish.
    static func of(
        _ failure: FetchFailure, attempts: Int, rounds: Int, serverIsWell: Bool, now: Timestamp,
        delay: (_ failures: Int, _ serverWish: Duration?) -> Duration
    ) -> RetryDecision {
        switch failure {
        case .unreachable, .account, .disk: return .putBack
        case .cancelled: return .wait(until: now + delay(1, nil), attempts: attempts)
        case .refused: return .ask(.retry)
        case .place: return .ask(.place)
        case .changed, .gone: return rounds >= mostRounds ? .ask(.retry) : .relist(rounds: rounds + 1)
        case .brokenOff(_, gained: true): return .wait(until: now + delay(1, nil), attempts: attempts)
        case .server(_, let retryAfter):
            if attempts + 1 >= longestRow, serverIsWell { return .ask(.retry) }
            return .wait(until: now + delay(attempts + 1, retryAfter), attempts: attempts + 1)
        case .brokenOff(_, gained: false), .wrongChecksum:
            if attempts + 1 >= longestRow { return .ask(.retry) }
            return .wait(until: now + delay(attempts + 1, nil), attempts: attempts + 1)
        }
    }
}
