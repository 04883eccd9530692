import Connection
import Model
import SyncEngine
import Threads

/// The polls of a run that commands ask for.
struct Polls: Sendable {
    /// The outcome of a poll.
    struct Outcome: Sendable {
        /// The errors of single folders.
        var failures: [Failure] = []
        /// The reason why the server did not answer; nil if it did.
        var unreached: Failure?
    }

    /// The number of polls that were asked for.
    private(set) var asked = 0
    /// The number of those that have ended.
    private(set) var ended = 0
    /// The outcome of the last poll.
    private(set) var outcome = Outcome()
    /// Whether a poll is under way.
    private(set) var isPolling = false
    private var wantsWalk = false

    /// Asks for a poll that has not begun yet.
    /// - Parameter walks: Whether all folders are listed where ETags do not tell of changes.
    /// - Returns: The poll's number.
    mutating func ask(walks: Bool) -> Int {
        asked += 1
        if walks { wantsWalk = true }
        return asked
    }

    /// Begins a poll that serves everything that was asked for up to now.
    mutating func begin() -> (number: Int, walks: Bool) {
        defer { (wantsWalk, isPolling) = (false, true) }
        return (asked, wantsWalk)
    }

    mutating func end(_ number: Int, _ outcome: Outcome) {
        (ended, self.outcome, isPolling) = (number, outcome, false)
    }

    /// Ends the only poll of a single run. It serves all that are asked for later, too.
    mutating func endLast(_ outcome: Outcome) { end(.max, outcome) }
}

extension AccountHost {
    /// Has the run in progress poll the server now, and waits for the outcome of that poll.
    /// - Parameters:
    ///   - walks: Whether all folders are listed where ETags do not tell of changes.
    ///   - retries: Whether the server is asked although it has rejected the account.
    ///   - onlyLeft: Whether the folders suffice that were left for a scan.
    /// - Throws: `CancellationError` if the task is cancelled. The poll goes on then.
    func poll(
        walks: Bool = false, retries: Bool = false, onlyLeft: Bool = false
    ) async throws(CancellationError) -> Polls.Outcome {
        if retries, state.isRefused { state.noteAnswer() }
        let number = state.polls.change { $0.ask(walks: walks) }
        // A pause that begins from here on ends the poll.
        if let pauseFailure { return Polls.Outcome(unreached: pauseFailure) }
        (onlyLeft ? state.foldersLeft : state.scanRequests).send()
        // While the server rejects the account, no request is sent.
        if state.isRefused, !retries { return Polls.Outcome(unreached: offlineFailure) }
        try await state.polls.waitUnlessCancelled { $0.ended >= number }
        return state.polls.with(\.outcome)
    }

    /// Has the run in progress find the server, unless it has found it already.
    /// - Throws: The reason why the server cannot be used; `CancellationError` if the task is cancelled.
    func reachAtWork() async throws {
        guard !engine.isOnline || state.isRefused else { return }
        if let failure = try await poll().unreached { throw failure }
    }

    /// The reason why the server cannot be used.
    var offlineFailure: Failure {
        if let pauseFailure { return pauseFailure }
        if state.isRefused {
            return connection.refusal?.failure ?? state.refusedBecause
                ?? Failure(.denied, "the server does not accept the account")
        }
        return state.polls.with(\.outcome.unreached) ?? Failure(.unreachable, "the server cannot be reached")
    }
}
