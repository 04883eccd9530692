import Connection
import Model

/// Whether the server, the account and the disk let downloads go on. A value without I/O.
struct ServerHealth {
    /// What holds up all downloads.
    struct Hold: Sendable {
        var failure: Failure
        /// Nil: until something about the account changes.
        var until: Timestamp?
    }

    private(set) var hold: Hold?
    /// Records that the server failed to answer since it last answered one.
    private var unanswered: Set<SyncRecordID> = []
    /// Holds in a row, each longer than the last.
    private(set) var holds = 0
    private let backoff: Backoff
    /// This many different files failing in a row are no longer about the files.
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
        case .unreachable(let failure), .disk(let failure):
            holdUp(failure, serverWish: nil, now: now)
        case .server(let failure, let retryAfter):
            unanswered.insert(record)
            guard retryAfter != nil || unanswered.count >= mostUnanswered else { return }
            holdUp(failure, serverWish: retryAfter, now: now)
        case .account(let failure): hold = Hold(failure: failure, until: nil)
        case .brokenOff, .wrongChecksum, .changed, .gone, .refused, .place, .cancelled: return
        }
    }

    /// Ends a hold whose time has come. What was counted stays, so that the next hold comes soon if nothing has changed.
    /// - Returns: whether one ended.
    mutating func tick(now: Timestamp) -> Bool {
        guard let until = hold?.until, until <= now else { return false }
        hold = nil
        return true
    }

    /// Ends any hold: the account or the network has changed.
    mutating func reset() {
        hold = nil
        unanswered.removeAll()
        holds = 0
    }

    private mutating func holdUp(_ failure: Failure, serverWish: Duration?, now: Timestamp) {
        // What was under way when the hold began fails too and is no further one.
        if let hold, hold.until == nil || hold.until.map({ $0 > now }) == true {
            guard let serverWish, let until = hold.until, now + serverWish > until else { return }
            self.hold?.until = now + serverWish
            return
        }
        holds += 1
        let delay = backoff.delay(afterFailures: holds, retryAfter: serverWish)
        hold = Hold(failure: failure, until: now + delay)
    }
}
