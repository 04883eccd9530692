import Connection
import Model

/// The health of the server, the account and the disk: whether they let downloads go on. A value without I/O.
struct ServerHealth {
    /// The cause for which all downloads wait.
    struct Hold: Sendable {
        var failure: Failure
        /// The end of the hold. Nil means: until something about the account changes.
        var until: Timestamp?
        /// Whether the server did not answer at all, and so did not ask for patience.
        var isOfReach = false
    }

    private(set) var hold: Hold?
    /// The records that the server failed to answer since it last answered a request.
    private var unanswered: Set<SyncRecordID> = []
    /// The number of holds in a row, each longer than the one before.
    private(set) var holds = 0
    private let backoff: Backoff
    /// The number of different files that must fail in a row before the failures are no longer about the files.
    private let mostUnanswered: Int

    init(backoff: Backoff, downloads: Int) {
        self.backoff = backoff
        mostUnanswered = downloads * 2
    }

    /// Whether other files are being answered, as far as is known.
    var isWell: Bool { hold == nil && unanswered.count < mostUnanswered }

    /// Whether no request is sent until something about the account changes.
    var isAccountRefused: Bool { hold.map { $0.until == nil } ?? false }

    mutating func answered() {
        unanswered.removeAll()
        holds = 0
    }

    mutating func failed(_ failure: FetchFailure, record: SyncRecordID, now: Timestamp) {
        switch failure {
        case .unreachable(let failure): holdUp(failure, serverWish: nil, isOfReach: true, now: now)
        case .disk(let failure): holdUp(failure, serverWish: nil, now: now)
        case .unavailable(let failure, let retryAfter):
            // The server names the time for the file that was requested, and may answer for all others.
            unanswered.insert(record)
            guard unanswered.count >= mostUnanswered else { return }
            holdUp(failure, serverWish: retryAfter, atMost: RetryDecision.longestUnavailable, now: now)
        case .server(let failure, let retryAfter):
            unanswered.insert(record)
            guard retryAfter != nil || unanswered.count >= mostUnanswered else { return }
            holdUp(failure, serverWish: retryAfter, now: now)
        case .account(let failure): hold = Hold(failure: failure, until: nil)
        case .brokenOff, .wrongChecksum, .changed, .gone, .refused, .question, .place, .cancelled: return
        }
    }

    /// Ends a hold whose time has come. The counts stay, so that the next hold comes soon if nothing has changed.
    /// - Returns: Whether a hold ended.
    mutating func tick(now: Timestamp) -> Bool {
        guard let until = hold?.until, until <= now else { return false }
        hold = nil
        return true
    }

    /// Ends any hold, since the account or the network has changed.
    mutating func reset() {
        hold = nil
        unanswered.removeAll()
        holds = 0
    }

    /// Ends a hold because nobody answered, since somebody waits for an answer now.
    /// - Returns: Whether a hold ended.
    mutating func demanded() -> Bool {
        guard let hold, hold.isOfReach else { return false }
        (self.hold, holds) = (nil, 0)
        return true
    }

    private mutating func holdUp(
        _ failure: Failure, serverWish: Duration?, isOfReach: Bool = false, atMost longest: Duration? = nil,
        now: Timestamp
    ) {
        // The downloads that were under way when the hold began fail too, and must not count as a further hold.
        if let hold, hold.until == nil || hold.until.map({ $0 > now }) == true {
            guard let serverWish, let until = hold.until, now + serverWish > until else { return }
            self.hold?.until = now + serverWish
            self.hold?.isOfReach = false
            return
        }
        holds += 1
        var delay = backoff.delay(afterFailures: holds, retryAfter: serverWish)
        if let longest { delay = min(delay, max(longest, serverWish ?? .zero)) }
        hold = Hold(failure: failure, until: now + delay, isOfReach: isOfReach)
    }
}
