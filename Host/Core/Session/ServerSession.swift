import Connection
import ItemList
import Model

/// What an account knows of its server, and what it asks of it next. This is the only place that says whether the server
/// can be used, and why not. A value without I/O; times are on the monotonic clock.
///
/// A run takes one ``Step`` after the other, carries it out and tells what came of it. Meanwhile commands, plugins and
/// the engine tell what they want and what they have met:
///
///     var session = ServerSession(secret, poll: nil, walk: .seconds(600))
///     session.start(paused: nil, left: nil, at: .zero)
///     session.next(at: .zero)                          // .connect
///     session.found(facts)
///     session.next(at: .seconds(1))                    // .scan
///     session.endRound(.init(), after: nil, at: .seconds(2))
///     session.next(at: .seconds(2))                    // .rest(for: .seconds(10))
struct ServerSession: Sendable {
    private(set) var state = State.seeking(after: nil)
    /// The secrets that the account has used and may use.
    private(set) var secrets: SecretUse
    /// The plan of walks.
    private(set) var walks: WalkPlan
    /// The outcome of the last poll that has ended.
    private(set) var outcome = Outcome()
    /// The poll that is under way; nil if none is.
    private(set) var round: Round?
    /// Whether what sends requests is to be stopped before anything else, because of a pause, or because all is to begin
    /// anew.
    private(set) var isToStop = false
    /// A number that grows with each change of a pause, and each time that all begins anew.
    private(set) var changes = 0
    /// Whether the account is kept up to date by a run, which takes the steps. A single run cannot be paused.
    private(set) var isKept = false

    private let poll: Duration?
    private let walk: Duration
    private var asked = 0
    private var answered = 0
    private var wantsWalk = false
    private var called = Call.none
    /// The time that the run rests before the next round; nil if that is due.
    private var interval: Duration?
    /// The time before which no round begins, whatever calls for it.
    private var earliest = Duration.zero
    private var wish: Duration?
    /// Whether a person has answered what is to be approved since the last attempt began.
    private var isAnswered = false
    private var retry: AuthenticationRetry?
    private var outage = Outage()

    /// Creates the session of an account that has not looked for its server yet.
    /// - Parameters:
    ///   - poll: The time between two polls, if the config names one.
    ///   - walk: The time between two walks over all folders, where ETags do not tell of changes.
    init(_ secret: AccountSecret, poll: Duration?, walk: Duration) {
        secrets = SecretUse(current: secret)
        (self.poll, self.walk) = (poll, walk)
        walks = WalkPlan(interval: walk)
    }

    // MARK: What is published

    /// Whether the server serves the account.
    var isOnline: Bool { if case .online = state { true } else { false } }
    /// Whether the engine may send requests. A single run goes on with what is served, and names what was rejected.
    var letsEngineWork: Bool { isOnline || rejection?.goesOn ?? false }
    var isPaused: Bool { pause != nil }
    var isUnavailable: Bool { if case .unavailable = state { true } else { false } }
    /// Whether the server rejects the account, or something about it is not approved.
    var isRefused: Bool { rejection != nil }
    /// Whether a poll is under way.
    var isPolling: Bool { round != nil }

    /// The pause; nil if the account is not paused.
    var pause: AccountPause? { if case .paused(let hold) = state { hold.pause } else { nil } }

    /// Whether nothing sends requests any more because of the pause.
    var isHeld: Bool { if case .paused(let hold) = state { hold.isInForce } else { false } }

    private(set) var rejection: Rejection? {
        get {
            switch state {
            case .refused(let rejection): rejection
            case .paused(let hold): hold.rejection
            default: nil
            }
        }
        set {
            switch state {
            case .refused: state = newValue.map(State.refused) ?? .seeking(after: nil)
            case .paused(var hold):
                hold.rejection = newValue
                state = .paused(hold)
            default: if let newValue { state = .refused(newValue) }
            }
        }
    }

    /// The state as reports name it.
    var connection: ConnectionState {
        switch state {
        case .seeking(after: nil): .connecting
        case .online: .online
        case .unavailable: .unavailable
        case .seeking, .refused, .paused, .closed: .offline
        }
    }

    /// The reason why the server cannot be used. While it can, it is the reason why the last poll did not end well.
    var failure: Failure {
        switch state {
        case .paused(let hold): Failure(hold.pause)
        case .refused(let rejection): rejection.failure ?? .notAccepted
        case .unavailable(let failure), .seeking(after: let failure?): failure
        case .seeking, .online, .closed:
            outcome.unreached ?? Failure(.unreachable, "the server cannot be reached")
        }
    }

    /// Tells whether a poll has ended.
    /// - Parameter number: As returned by ``ask(walks:retries:for:)``.
    func hasAnswered(_ number: Int) -> Bool { answered >= number }

    // MARK: What is asked

    /// Asks for a poll that has not begun yet.
    /// - Parameters:
    ///   - walks: Whether all folders are listed where ETags do not tell of changes.
    ///   - retries: Whether the server is asked although it has rejected the account.
    ///   - call: Whether the folders suffice that were left for a scan.
    /// - Returns: The poll's number; nil if no poll comes, because of ``failure``.
    mutating func ask(walks: Bool, retries: Bool, for call: Call) -> Int? {
        if retries { rejection?.isAnswered = true }
        switch state {
        case .paused, .closed: return nil
        case .refused where !retries: return nil
        default: break
        }
        asked += 1
        if walks { wantsWalk = true }
        self.call(for: call)
        return asked
    }

    /// Has a round begin before its time.
    mutating func call(for call: Call) {
        if call.rawValue > called.rawValue { called = call }
    }

    /// Takes the news that folders were left for a scan.
    /// - Returns: Whether there were such news.
    mutating func takeFoldersLeft() -> Bool {
        // A single run scans everything that is asked for, so this is all that a call can be about.
        defer { called = .none }
        return called != .none
    }

    /// Notes that a person answered what is to be approved. The answer also counts for an attempt that is under way.
    mutating func answer() {
        guard !isClosed else { return }
        isAnswered = true
        rejection?.isAnswered = true
    }

    /// Offers a secret that was written anew. It comes into use with the next round, which begins now.
    mutating func offer(_ secret: AccountSecret) { secrets.offered = secret }

    // MARK: Pauses

    /// Begins to keep the account up to date.
    /// - Parameters:
    ///   - pause: The pause that an earlier host left.
    ///   - left: The rest of the pause; nil if it has no end.
    mutating func start(paused pause: AccountPause?, left: Duration?, at now: Duration) {
        isKept = true
        if !isClosed { state = Self.anew(rejection) }
        if let pause { begin(pause, until: left.map { now + $0 }) }
    }

    /// Begins a pause, or replaces the present one.
    /// - Parameter end: The end of the pause; nil if it has none.
    mutating func begin(_ pause: AccountPause, until end: Duration?) {
        changes += 1
        switch state {
        case .closed: return
        case .paused(var hold):
            (hold.pause, hold.end) = (pause, end)
            state = .paused(hold)
        default:
            state = .paused(Hold(pause: pause, end: end, rejection: rejection))
            isToStop = true
        }
    }

    /// Ends the pause.
    /// - Returns: Whether the account was paused.
    mutating func resume() -> Bool {
        changes += 1
        guard case .paused(let hold) = state else { return false }
        state = Self.anew(hold.rejection)
        return true
    }

    /// Has all begin anew, since the machine has slept.
    mutating func interrupt() {
        changes += 1
        switch state {
        case .paused, .closed: return
        case .refused: break
        case .seeking, .online, .unavailable: state = .seeking(after: nil)
        }
        isToStop = true
    }

    /// Notes that nothing sends requests any more, as ``Step/stop(changes:)`` wants it. If a pause began or ended meanwhile,
    /// all is to be stopped once more.
    mutating func stopped(since changes: Int) {
        guard self.changes == changes else { return }
        (isToStop, round, retry, outage, wish, interval) = (false, nil, nil, Outage(), nil, nil)
        earliest = .zero
        walks = WalkPlan(interval: walk)
        switch state {
        case .paused(var hold):
            hold.isInForce = true
            state = .paused(hold)
            (answered, outcome) = (asked, Outcome(unreached: failure))
        case .closed: break
        default: state = Self.anew(rejection)
        }
    }

    /// Notes that the account is closed.
    mutating func close() { state = .closed }

    private static func anew(_ rejection: Rejection?) -> State {
        guard var rejection else { return .seeking(after: nil) }
        rejection.phase = .reported
        return .refused(rejection)
    }

    // MARK: What the server says

    /// Notes that the server was found.
    mutating func found(_ facts: ServerFacts) {
        guard !isToStop, !(isKept && isRefused) else { return }
        switch state {
        case .paused, .closed: break
        case .seeking, .online, .refused, .unavailable:
            state = .online(Online(facts: facts))
            isAnswered = false
        }
    }

    /// Takes the time between two polls that the server wishes.
    mutating func take(wish: Duration?) { self.wish = wish }

    /// Notes that the server was not found.
    /// - Returns: Whether this is something that was not approved, and is news.
    @discardableResult
    mutating func failed(_ error: ConnectionError) -> Bool {
        switch error.kind {
        case .authentication, .certificate: refuse(because: error.failure)
        case .unapproved: return refuse(unapproved: error)
        default: leave(for: error.isAnswer ? .unavailable(error.failure) : .seeking(after: error.failure))
        }
        return false
    }

    /// Notes that a scan was cut off, or could not even list the root. The server is to be found again.
    /// - Parameter isUnavailable: Whether the server says that it cannot serve requests now.
    mutating func cutOff(_ failure: Failure, isUnavailable: Bool) {
        if isUnavailable { leave(for: .unavailable(failure)) } else { forgetFacts() }
    }

    /// Has the server be found again with the next round.
    mutating func forgetFacts() {
        guard case .online(var online) = state else { return }
        online.facts = nil
        state = .online(online)
    }

    /// Notes that the server rejected the account. No request is to be sent before a step says so.
    /// - Parameter failure: The reason, if it is known.
    mutating func refuse(because failure: Failure?) {
        guard !isClosed else { return }
        var rejection = rejection ?? newRejection
        rejection.failure = failure ?? rejection.failure
        self.rejection = rejection
    }

    /// Notes that something about the server was not approved.
    /// - Returns: Whether this is news.
    mutating func refuse(unapproved error: ConnectionError) -> Bool {
        guard !isClosed else { return false }
        var rejection = rejection ?? newRejection
        defer { self.rejection = rejection }
        return exchange(&rejection.unapproved, with: error) != error
    }

    /// Notes that the server could not serve a request, though it seems to be there. A scan finds out about all of the
    /// server, unless one did since the server was found.
    mutating func doubt() {
        guard case .online(var online) = state, !online.isDoubted else { return }
        online.isDoubted = true
        state = .online(online)
        call(for: .everything)
    }

    private var newRejection: Rejection { Rejection(isAnswered: isAnswered, goesOn: isOnline && !isKept) }

    private var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Leaves a state in which requests are sent.
    private mutating func leave(for other: State) {
        switch state {
        case .seeking, .online, .unavailable: state = other
        case .refused where !isKept: state = other
        case .refused, .paused, .closed: break
        }
    }

    /// Filters what is said about an outage.
    /// - Parameter error: The error of a poll.
    /// - Returns: Whether the error is to be reported.
    mutating func reports(_ error: ConnectionError) -> Bool { outage.begins(with: error) }

    /// Notes that the server has answered.
    /// - Returns: Whether the end of an outage is to be reported.
    mutating func endsOutage() -> Bool { outage.ends() }

    // MARK: What a run does next

    /// Returns what the run does next; nil if it has nothing to do any more.
    mutating func next(at now: Duration) -> Step? {
        guard !isToStop else { return .stop(changes: changes) }
        switch state {
        case .closed: return nil
        case .paused(let hold):
            let rest = PollInterval.next(configured: poll, serverWish: nil)
            guard let end = hold.end else { return .restPaused(for: rest, changes: changes) }
            return end > now ? .restPaused(for: min(end - now, rest), changes: changes) : .endPause(changes: changes)
        case .refused(let rejection): return next(after: rejection, at: now)
        case .seeking, .online, .unavailable: break
        }
        if round == nil {
            if let rest = restBeforeRound(at: now) { return rest }
            beginRound()
        }
        if let secret = secrets.offered { return .use(secret) }
        if case .online(let online) = state, let facts = online.facts { return .scan(facts) }
        return .connect
    }

    private func restBeforeRound(at now: Duration) -> Step? {
        guard isCalled else { return interval.map { .rest(for: $0) } }
        return earliest > now ? .restBriefly(until: earliest) : nil
    }

    private var isCalled: Bool { called != .none || secrets.offered != nil }

    private mutating func beginRound() {
        round = Round(number: asked, walks: wantsWalk, isCalled: called == .everything)
        (wantsWalk, called) = (false, .none)
    }

    private mutating func next(after rejection: Rejection, at now: Duration) -> Step {
        switch rejection.phase {
        case .reported: return .hold
        case .held: return .readSecret
        case .kept: return .passTime
        case .waiting(let end):
            if rejection.isAnswered || end <= now {
                readSecretAgain()
                return .readSecret
            }
            let checks = secrets.current.writing != nil
            // A file is checked more often, because the person who wrote it may be waiting for the effect.
            return .restRefused(
                until: checks ? min(end, now + .seconds(2)) : end, nextTry: retry?.nextTry, checksSecret: checks)
        }
    }

    /// Tells whether a step is to end, because something is to be done that it delays.
    func ends(_ step: Step) -> Bool {
        switch step {
        case .stop: false
        case .rest: isToStop || isClosed || isCalled || isRefused
        case .restRefused: isToStop || rejection?.isAnswered ?? true
        case .restPaused(_, let changes): isClosed || self.changes != changes
        default: isToStop
        }
    }

    /// Notes that ``Step/rest(for:)`` has lasted until its end, and the account may poll.
    mutating func rested() {
        if !isCalled { walks.paused() }
        interval = nil
    }

    /// Ends the round, and with it the polls that it serves. A rejection has the round go on.
    /// - Parameter interval: The time until the next round; nil for the usual one.
    mutating func endRound(_ outcome: Outcome, after interval: Duration?, at now: Duration) {
        guard !isRefused, let round = self.round.take() else { return }
        (answered, self.outcome) = (max(answered, round.number), outcome)
        let interval = interval ?? PollInterval.next(configured: poll, serverWish: wish)
        self.interval = interval
        // A server that pushes many hints is polled once a second.
        earliest = now + min(interval, .seconds(1))
    }

    /// Ends the only poll of a single run. It serves all that are asked for later, too.
    mutating func endOnlyPoll(_ outcome: Outcome) { (answered, self.outcome) = (.max, outcome) }

    // MARK: Scans

    /// Returns the mode of a scan that begins now.
    /// - Parameter isFirst: Whether the server was not found yet when the mode is asked for.
    func scanMode(
        isFamily: Bool, _ history: ScanMode.History, isFirst: Bool = false, time: Timestamp, at now: Duration
    ) -> ScanMode {
        let isCalled = !isFirst && (round.map { $0.walks || $0.isCalled } ?? false)
        return walks.mode(isFamily: isFamily, history, isCalled: isCalled, time: time, at: now)
    }

    /// Takes the outcome of a scan that has ended.
    /// - Parameters:
    ///   - history: What was known before the scan.
    ///   - time: The time by the wall clock.
    mutating func scanned(
        _ mode: ScanMode, _ outcome: ItemListUpdate.Outcome, _ history: ScanMode.History, time: Timestamp,
        at now: Duration
    ) {
        walks.ended(mode, outcome, walkBegan: history.openWalk, time: time, at: now)
    }

    /// Takes the end of a scan that listed the root: what was rejected before is not any more.
    /// - Returns: The time until the next scan; nil where folder ETags tell of changes below.
    mutating func pause(afterScanOf facts: ServerFacts, _ history: ScanMode.History, at now: Duration) -> Duration? {
        retry = nil
        return facts.isOwnCloudFamily && !history.etagsWereWrong ? nil : walks.pause(at: now)
    }

    // MARK: Rejections

    /// Plans the next attempt, while what sends requests is stopped, as ``Step/hold`` wants it.
    /// - Parameter mayPass: Whether the same secret worked before, or the rejection was not about the secret.
    /// - Returns: The time of the next attempt; nil if it comes with another secret.
    mutating func hold(mayPass: Bool, at now: Duration) -> Duration? {
        // The round serves what was asked for up to now: nobody waits for a poll that does not come.
        let walks = round.take()?.walks ?? false
        readSecretAgain()
        if walks { round?.walks = true }
        var retry = retry ?? AuthenticationRetry()
        if retry.isTrying { retry.refused(mayPass: mayPass, at: now) }
        self.retry = retry
        return retry.nextTry
    }

    /// Takes the secret as its source has it.
    /// - Returns: Whether the server is tried with it now.
    mutating func tries(with secret: AccountSecret, at now: Duration) -> Bool {
        guard case .refused(var rejection) = state else { return false }
        let hasNews = rejection.isAnswered || !secret.isSame(as: secrets.current)
        guard retry?.tries(hasNewSecret: hasNews, at: now) ?? true else {
            rejection.phase = .kept
            state = .refused(rejection)
            return false
        }
        use(secret)
        return true
    }

    /// Ends the round of a rejected account whose server is not tried.
    mutating func keepRejected(at now: Duration) {
        guard case .refused(var rejection) = state else { return }
        if let round = round.take() { (answered, outcome) = (max(answered, round.number), Outcome(unreached: failure)) }
        let standard = now + PollInterval.standard
        rejection.phase = .waiting(until: min(standard, retry?.nextTry ?? standard))
        state = .refused(rejection)
    }

    /// Has the secret's source be read at once, because it was written anew.
    mutating func readSecretAgain() {
        guard case .refused(var rejection) = state else { return }
        if round == nil { beginRound() }
        rejection.phase = .held
        state = .refused(rejection)
    }

    /// Lets requests go on with a secret, beginning with the search for the account's place on the server.
    mutating func use(_ secret: AccountSecret) {
        (secrets.current, secrets.offered, isAnswered) = (secret, nil, false)
        round?.isCalled = false
        switch state {
        case .paused, .closed: rejection = nil
        case .seeking, .online, .refused, .unavailable: state = .seeking(after: nil)
        }
    }

    /// Notes that the server accepted the secret.
    mutating func secretWorked() { secrets.worked = secrets.current.credentials }
}

extension Failure {
    /// The failure of what needs a server that rejects the account for a reason that is not known.
    static let notAccepted = Failure(.denied, "the server does not accept the account")
}
