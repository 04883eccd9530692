import Model

/// The consequence of a failure for its record. Pure, so that a test can cover the whole table.
enum RetryDecision: Hashable, Sendable {
    /// A retry at this time.
    case wait(until: Timestamp, attempts: Int)
    /// A new listing of the record's folder. The record goes on with what the listing shows.
    case relist(rounds: Int)
    /// A retry at this time, after so many failures that an issue tells of them.
    case retry(at: Timestamp, attempts: Int)
    /// A question to a person.
    case ask(IssueCode)
    /// A wait for the decision about missing items: the file is missing on the server, like the items that the listing
    /// lacks.
    case hold(WaitCondition)
    /// A return to the ready state. The cause holds up all downloads.
    case putBack

    /// The number of failures of one file that follow each other closely. Later tries come after minutes to hours.
    static let longestRow = 5
    /// The number of shorter pauses that a file leaves out which the server refuses. Nothing passes there in a minute.
    static let pausesWithoutRefusal = 2
    /// The time after which a server that cannot serve requests is asked again, unless it names a longer one. A single
    /// file waits up to six times as long, so that others come before it.
    static let longestUnavailable = Duration.seconds(10)
    /// The number of times that the engine waits for new metadata.
    static let mostRounds = 3

    /// The number of questions about what is not certain that the server may leave without an answer.
    static let mostFailedQuestions = 20
    /// The same for answers that make no sense, such as one about another name than was asked for.
    static let mostSenselessAnswers = 5

    /// The number of bytes that a try must bring, unless they are a tenth of those that were missing. A server that
    /// sends a byte for each request would otherwise be asked for ever.
    static let leastGain: Int64 = 65_536

    /// Tells whether a try that resumed a download brought so much that it does not count as a failure.
    /// - Parameters:
    ///   - received: The number of bytes that the try brought.
    ///   - missing: The number of bytes that were missing before the try; nil if it is unknown.
    static func isGain(_ received: Int64, of missing: Int64?) -> Bool {
        received >= leastGain || received > 0 && missing.map { $0 / 10 <= received } ?? false
    }

    /// Decides what follows from a failure.
    /// - Parameters:
    ///   - attempts: The number of earlier failures of the record.
    ///   - rounds: The number of times that the record waited for new metadata.
    ///   - serverIsWell: Whether the server answers requests for other files. If not, no issue tells of each file.
    ///   - delay: Returns the back-off for that number of failures in a row and the server's wish.
    ///   - pause: Returns the same for failures after which a file is tried again much later.
    static func of(
        _ failure: FetchFailure, attempts: Int, rounds: Int, serverIsWell: Bool, now: Timestamp,
        delay: (_ failures: Int, _ serverWish: Duration?) -> Duration,
        pause: (_ failures: Int, _ serverWish: Duration?) -> Duration
    ) -> RetryDecision {
        func later(_ serverWish: Duration? = nil, leavingOut pauses: Int = 0) -> RetryDecision {
            let attempts = max(attempts + 1, longestRow)
            return .retry(at: now + pause(attempts - longestRow + 1 + pauses, serverWish), attempts: attempts)
        }
        switch failure {
        case .unreachable, .account, .disk: return .putBack
        case .cancelled: return .wait(until: now + delay(1, nil), attempts: attempts)
        case .refused: return later(leavingOut: pausesWithoutRefusal)
        case .place: return .ask(.place)
        case .changed, .gone: return rounds >= mostRounds ? later() : .relist(rounds: rounds + 1)
        case .brokenOff(_, gained: true): return .wait(until: now + delay(1, nil), attempts: attempts)
        case .server(_, let retryAfter):
            if attempts + 1 >= longestRow, serverIsWell { return later(retryAfter) }
            return .wait(until: now + delay(attempts + 1, retryAfter), attempts: attempts + 1)
        case .question(_, let retryAfter):
            return .wait(until: now + delay(attempts + 1, retryAfter), attempts: attempts + 1)
        case .unavailable(_, let retryAfter):
            // No answer of a person's would help.
            let wait = max(min(delay(attempts + 1, nil), longestUnavailable * 6), retryAfter ?? .zero)
            return .wait(until: now + wait, attempts: attempts + 1)
        case .brokenOff(_, gained: false), .wrongChecksum:
            if attempts + 1 >= longestRow { return later() }
            return .wait(until: now + delay(attempts + 1, nil), attempts: attempts + 1)
        }
    }
}
