import Connection
import Database
import Model
import TestSupport
import Testing

@testable import Core
@testable import ItemList

/// A random course of a ``ServerSession``, with a person, a server and a driver, beside what must hold whatever comes.
struct SessionModel {
    /// What the server does with requests.
    enum Server: CaseIterable { case serves, isAway, isUnavailable, rejects, isNotApproved }

    private var random: SeededGenerator
    private var session: ServerSession
    private var server = Server.serves
    private var now = Duration.zero
    private var step: ServerSession.Step?
    private var secrets = 0
    private var source = AccountSecret(.basic(username: "a", password: "0"), writing: "0")
    /// Whether the server rejected the account since an attempt was allowed.
    private var isRejected = false
    private var isAnswered = false
    private var nextTry: Duration?
    private var isPaused = false
    private var isClosed = false
    /// The polls that were asked for and have not ended, with what was the case since: whether the server was
    /// asked, or there was a reason not to, after each.
    private var waiting: [Int: Bool] = [:]
    /// What went wrong; empty if nothing did.
    private(set) var findings: [String] = []
    /// The states in which steps were taken, and the steps, to tell that the courses reach all of them.
    private(set) var reached: Set<String> = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        session = ServerSession(source, poll: .seconds(10), walk: .seconds(600))
        session.start(paused: nil, left: nil, at: now)
        take()
    }

    /// Goes through the course.
    mutating func run(steps: Int) {
        for _ in 0..<steps where findings.isEmpty {
            if Int.random(in: 0..<3, using: &random) > 0 { carryOut() } else { disturb() }
            check()
        }
        end()
    }

    /// Lets everything be well, and expects that each poll ends.
    private mutating func end() {
        guard !isClosed, findings.isEmpty else { return }
        server = .serves
        write()
        if isPaused { resume() }
        session.answer()
        isAnswered = true
        ask(retries: true)
        for _ in 0..<60 where !waiting.isEmpty || !session.isOnline {
            carryOut()
            check()
        }
        if !waiting.isEmpty { findings.append("polls did not end") }
        if !session.isOnline {
            findings.append("the server is well and not in use: \(session.state), \(step as Any), \(session.isToStop)")
        }
    }

    // MARK: The driver

    private mutating func take() {
        step = session.next(at: now)
        guard let step else { return }
        reached.insert("\(step)".prefix { $0.isLetter }.description)
        switch step {
        case .connect, .scan:
            if isPaused || isClosed { findings.append("\(step) while paused or closed") }
            if isRejected { findings.append("\(step) of a rejected account") }
            serve()
        case .readSecret: serve()
        default: break
        }
    }

    /// Notes that something has begun that may be the answer to all polls that were asked for.
    private mutating func serve() { for number in waiting.keys { waiting[number] = true } }

    /// Lets the step end, or abandons it, as the driver does.
    private mutating func carryOut() {
        guard let step else { return }
        if session.isToStop, step.usesNetwork {
            // An answer may come in the moment in which the step is abandoned.
            if case .connect = step, Bool.random(using: &random) { connect() }
            return take()
        }
        if session.ends(step) {
            // What rests ends early.
            return take()
        }
        switch step {
        case .stop(let changes):
            session.stopped(since: changes)
            if session.isHeld, session.changes != changes { findings.append("a pause in force that began later") }
        case .restPaused(let time, _): now += time
        case .endPause(let changes):
            if session.changes == changes { resume() }
        case .hold:
            nextTry = session.hold(mayPass: Bool.random(using: &random), at: now)
        case .readSecret:
            let isNew = !source.isSame(as: session.secrets.current)
            let isDue = nextTry.map { $0 <= now } ?? false
            let tries = session.tries(with: source, at: now)
            if tries != (isNew || isDue || isAnswered), case .refused = session.state {
                findings.append("an attempt \(tries), though new \(isNew), due \(isDue), answered \(isAnswered)")
            }
            if tries {
                if !(isNew || isDue || isAnswered) { findings.append("an attempt that nothing allows") }
                (isRejected, isAnswered) = (false, false)
            }
        case .passTime: session.keepRejected(at: now)
        case .restRefused(let end, _, let checks):
            now = max(now, end)
            if checks, source.writing != session.secrets.current.writing { session.readSecretAgain() }
        case .use(let secret):
            session.use(secret)
            (isRejected, isAnswered) = (false, false)
        case .connect: connect()
        case .scan(let facts): scan(facts)
        case .rest(let time):
            now += time
            session.rested()
        case .restBriefly(let end): now = max(now, end)
        }
        take()
    }

    private mutating func connect() {
        if let error {
            session.failed(error)
            if server == .rejects || server == .isNotApproved { reject() }
            session.forgetFacts()
            session.endRound(.init(unreached: error.failure), after: nil, at: now)
        } else {
            session.found(Self.facts)
            session.secretWorked()
            if session.isOnline { isAnswered = false }
        }
    }

    private mutating func scan(_ facts: ServerFacts) {
        var outcome = ItemListUpdate.Outcome()
        if let error { (outcome.failed, outcome.isComplete) = ([.root: error], false) }
        let mode = session.scanMode(isFamily: true, .init(), time: Self.time, at: now)
        session.scanned(mode, outcome, .init(), time: Self.time, at: now)
        guard let error else {
            let interval = session.pause(afterScanOf: facts, .init(), at: now)
            if Bool.random(using: &random) { session.forgetFacts() }
            return session.endRound(.init(), after: interval, at: now)
        }
        session.cutOff(error.failure, isUnavailable: server == .isUnavailable)
        if server == .rejects {
            session.refuse(because: error.failure)
            reject()
        }
        session.endRound(.init(unreached: error.failure), after: nil, at: now)
    }

    private var error: ConnectionError? {
        switch server {
        case .serves: nil
        case .isAway: ConnectionError(.unreachable, "away")
        case .isUnavailable: ConnectionError(.maintenance, "maintenance")
        case .rejects: ConnectionError(.authentication, "rejected")
        case .isNotApproved: ConnectionError(.unapproved, "not approved")
        }
    }

    private mutating func reject() {
        guard !isClosed else { return }
        if !isRejected { nextTry = nil }
        isRejected = true
    }

    // MARK: What comes in between

    private mutating func disturb() {
        now += .milliseconds(Int.random(in: 0...5_000, using: &random))
        switch Int.random(in: 0..<16, using: &random) {
        case 0...2: ask(retries: Bool.random(using: &random))
        case 3: session.call(for: Bool.random(using: &random) ? .foldersLeft : .everything)
        case 4: server = Server.allCases.randomElement(using: &random) ?? .serves
        case 5: server = .serves
        case 6: write()
        case 7:
            write()
            session.offer(source)
        case 8:
            // A request of the engine or of a loop was rejected.
            session.refuse(because: nil)
            reject()
        case 9: session.doubt()
        case 10:
            if !isClosed { isAnswered = true }
            session.answer()
        case 11:
            let length: Duration? = Bool.random(using: &random) ? nil : .seconds(30)
            session.begin(AccountPause(for: length, at: Self.time), until: length.map { now + $0 })
            isPaused = !isClosed
            if isPaused { serve() }
        case 12: resume()
        case 13: session.interrupt()
        case 14: session.take(wish: .seconds(Int64.random(in: 0...60, using: &random)))
        default:
            guard Int.random(in: 0..<20, using: &random) == 0 else { return }
            session.close()
            (isClosed, isPaused) = (true, false)
        }
    }

    private mutating func ask(retries: Bool) {
        if retries, session.isRefused { isAnswered = true }
        guard let number = session.ask(walks: Bool.random(using: &random), retries: retries, for: .everything) else {
            if !isPaused, !isClosed, !isRejected { findings.append("no poll though nothing is in its way") }
            return
        }
        if isPaused || isClosed { findings.append("a poll that cannot come") }
        waiting[number] = false
    }

    private mutating func write() {
        secrets += 1
        source = AccountSecret(.basic(username: "a", password: "\(secrets)"), writing: "\(secrets)")
    }

    private mutating func resume() {
        if session.resume() != isPaused { findings.append("it was paused: \(isPaused)") }
        isPaused = false
    }

    // MARK: What must hold

    private mutating func check() {
        if session.isPaused != isPaused { findings.append("paused \(session.isPaused)") }
        if !isClosed, session.isRefused != isRejected {
            findings.append("rejected \(session.isRefused), not \(isRejected)")
        }
        if session.isOnline, isPaused || isRejected || isClosed { findings.append("online in spite of all") }
        if session.isOnline != (session.connection == .online) { findings.append("what is published differs") }
        if session.isOnline, session.isToStop { findings.append("online while all is to be stopped") }
        if session.isHeld, step?.usesNetwork ?? false { findings.append("a pause in force beside \(step as Any)") }
        for (number, isServed) in waiting where session.hasAnswered(number) {
            if !isServed { findings.append("a poll ended without a step after it") }
            waiting[number] = nil
        }
        if let step, rests(step), !session.ends(step), !waiting.isEmpty {
            findings.append("\(step) goes on while a poll is waited for")
        }
    }

    private func rests(_ step: ServerSession.Step) -> Bool {
        switch step {
        case .rest, .restRefused, .restPaused: true
        default: false
        }
    }

    private static let time = Timestamp(seconds: 1_000)
    private static let facts = ServerFacts(
        root: "http://a/", evidence: .statusDocument, hasFileIDs: true, hasFiles: true,
        rootItem: ListedItem(path: .root, kind: .folder))
}
