import Database
import ItemList
import LocalTree
import Model
import Synchronization
import Threads

/// The state that the parts of a running account share.
final class AccountState: Sendable {
    private struct Values {
        var owesTrigger = true
        var hasScanned = false
        var checkedPolicies = 0
        var clock: ClockSanity
        var moves = 0
        var calendarObjects = 0
        var removed = 0
        var reopens = false
    }

    private let values: Mutex<Values>
    /// The account's place among those that are starting.
    let place: AccountPlaces.Place
    /// What is known of the server.
    let session: Monitor<ServerSession>
    /// Sent when calendars or their objects changed.
    let calendars = Signal()
    /// Sent when the server rejects the secret for the requests of a loop, and not for the account's files.
    let loopRefusals = Signal()
    /// Sent when the tree is to follow moves: items have moved, or a place is free for which a move waited.
    let treeMoves = Signal()
    /// Sent when a call into a plugin was found to hang.
    let hangs = Signal()
    /// Sent when policies were changed.
    let policyChanges = Signal()
    /// Sent when the run is to end so that the account is opened anew.
    let reopenings = Signal()
    /// When the server is asked for the account's favorites.
    let favorites = Monitor(FavoritesPlan())
    /// Held while the pause is changed.
    let isChangingPause = Turns()
    /// Held while a command polls event loops.
    let isPollingLoops = Turns()
    /// Held while the files of calendars are written.
    let isWritingCalendars = Turns()
    /// Sent when a plugin failed or broke the rules.
    let mistakes = Signal()
    /// The uses of copies by programs, while the tree is watched.
    let uses = UseLog()

    init(_ session: ServerSession, clock: ClockSanity, place: AccountPlaces.Place) {
        self.session = Monitor(session)
        values = Mutex(Values(clock: clock))
        self.place = place
    }

    /// Whether the system's clock is believed, and since when.
    var clock: ClockSanity { values.withLock { $0.clock } }

    /// Checks the system's clocks against the server's time.
    /// - Parameters:
    ///   - clock: The system's clocks.
    ///   - ahead: The time by which this machine's clock is ahead of the server's; nil if it is not known.
    /// - Returns: The clock's state before and after.
    func checkClock(_ clock: HostClock, aheadOfServer ahead: Duration?) -> (before: ClockSanity, after: ClockSanity) {
        values.withLock { values in
            let before = values.clock
            values.clock.observe(now: clock.now(), monotonic: clock.monotonic(), aheadOfServer: ahead)
            return (before, values.clock)
        }
    }

    /// Adds the counts of a committed transaction.
    func count(_ changes: CommitChanges) {
        guard changes.foundMoves > 0 || changes.calendarObjects > 0 || changes.removedCopies > 0 else { return }
        values.withLock { values in
            values.moves += changes.foundMoves
            values.calendarObjects += changes.calendarObjects
            values.removed += changes.removedCopies
        }
    }

    /// The counts of all transactions committed since the account was opened.
    var counts: (moves: Int, calendarObjects: Int, removed: Int) {
        values.withLock { ($0.moves, $0.calendarObjects, $0.removed) }
    }

    /// The version of the policies that was last checked after a scan for obsolete policies; 0 if none was.
    var checkedPolicies: Int { values.withLock { $0.checkedPolicies } }
    func noteCheckedPolicies(_ version: Int) { values.withLock { $0.checkedPolicies = version } }

    /// Requests that the run ends so that the account is opened anew.
    func reopen() {
        values.withLock { $0.reopens = true }
        reopenings.send()
    }
    var reopens: Bool { values.withLock { $0.reopens } }

    /// Notes that a scan changed something and did not finish.
    func oweTrigger() { values.withLock { $0.owesTrigger = true } }

    /// Notes that a scan finished.
    /// - Returns: Whether this is the first finished scan since the start, or since a scan that changed something but
    ///   did not finish.
    func finishScan() -> Bool {
        values.withLock { values in
            defer { (values.owesTrigger, values.hasScanned) = (false, true) }
            return values.owesTrigger
        }
    }

    /// Whether a scan has ended since the account was opened.
    var hasScanned: Bool { values.withLock { $0.hasScanned } }
}

/// Turns of tasks at something that one task at a time may do.
final class Turns: Sendable {
    private let isTaken = Monitor(false)

    /// Waits for the caller's turn, which lasts until ``release()``.
    /// - Throws: `CancellationError` if the task is cancelled. The caller has no turn then.
    func take() async throws(CancellationError) {
        try await isTaken.waitUnlessCancelled { isTaken in
            guard !isTaken else { return false }
            isTaken = true
            return true
        }
    }

    func release() { isTaken.change { $0 = false } }
}
