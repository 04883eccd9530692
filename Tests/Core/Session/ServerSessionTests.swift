import Connection
import ItemList
import Model
import TestSupport
import Testing

@testable import Core

/// Tests of what an account decides about its server, without a server or a clock.
struct ServerSessionTests {
    @Test("C2 L34: whatever comes, nothing is asked while the account may not, nobody waits for ever, and all goes on")
    func anyCourse() async throws {
        let seed = SeededGenerator().seed
        // The courses take long, so they run on a thread of their own.
        let (trouble, reached) = try await onThread { () -> (String?, Set<String>) in
            var reached: Set<String> = []
            for course in 0..<UInt64(SeededGenerator.rounds()) {
                var model = SessionModel(seed: seed &+ course)
                model.run(steps: 200)
                guard model.findings.isEmpty else {
                    return ("LARDER_TEST_SEED=\(seed &+ course): \(model.findings)", reached)
                }
                reached.formUnion(model.reached)
            }
            return (nil, reached)
        }
        #expect(trouble == nil)
        // The courses come through all steps.
        #expect(
            reached == [
                "stop", "restPaused", "endPause", "hold", "readSecret", "passTime", "restRefused", "use", "connect",
                "scan",
                "rest", "restBriefly",
            ])
    }

    private static let secret = AccountSecret(.basic(username: "a", password: "1"), writing: "1")
    private static let facts = ServerFacts(
        root: "http://a/", evidence: .statusDocument, hasFileIDs: true, hasFiles: true,
        rootItem: ListedItem(path: .root, kind: .folder))

    private static func started() -> ServerSession {
        var session = ServerSession(secret, poll: .seconds(10), walk: .seconds(600))
        session.start(paused: nil, left: nil, at: .zero)
        return session
    }

    @Test("The one state has the reason why the server cannot be used")
    func reasons() {
        var session = Self.started()
        #expect(session.connection == .connecting && session.failure.message == "the server cannot be reached")
        session.failed(ConnectionError(.unreachable, "no route"))
        #expect(session.connection == .offline && session.failure.message == "no route")
        session.failed(ConnectionError(.maintenance, "under repair"))
        #expect(session.connection == .unavailable && session.failure.message == "under repair")
        session.found(Self.facts)
        #expect(session.connection == .online)
        session.refuse(because: nil)
        #expect(session.connection == .offline && session.failure.message == Failure.notAccepted.message)
        session.refuse(because: Failure(.denied, "wrong password"))
        session.refuse(because: nil)
        #expect(session.failure.message == "wrong password")
        session.begin(AccountPause(for: nil, at: Timestamp(seconds: 1_000)), until: nil)
        #expect(session.connection == .offline && session.failure.message == "the account is paused")
        #expect(session.isRefused)
    }

    @Test("L34: a poll that is asked for while another is under way begins after it, and one that calls often waits")
    func later() throws {
        var session = Self.started()
        guard case .connect = session.next(at: .zero) else { return #expect(Bool(false)) }
        session.found(Self.facts)
        let asked = session.ask(walks: false, retries: false, for: .everything)
        let number = try #require(asked)
        guard case .scan = session.next(at: .zero) else { return #expect(Bool(false)) }
        session.endRound(.init(), after: nil, at: .seconds(5))
        #expect(!session.hasAnswered(number))
        guard case .restBriefly(until: .seconds(6)) = session.next(at: .seconds(5)) else { return #expect(Bool(false)) }
        guard case .scan = session.next(at: .seconds(6)) else { return #expect(Bool(false)) }
        session.endRound(.init(), after: nil, at: .seconds(7))
        #expect(session.hasAnswered(number))
        guard case .rest(for: .seconds(10)) = session.next(at: .seconds(7)) else { return #expect(Bool(false)) }
    }

    @Test("L34: what a connection finds in the moment in which a pause begins sets nothing going")
    func lateAnswers() {
        var session = Self.started()
        _ = session.next(at: .zero)
        session.begin(AccountPause(for: nil, at: Timestamp(seconds: 1_000)), until: nil)
        session.found(Self.facts)
        #expect(!session.isOnline)
        guard case .stop = session.next(at: .zero) else { return #expect(Bool(false)) }
        // A request that was under way is rejected.
        session.refuse(because: nil)
        session.stopped(since: session.changes)
        #expect(session.isHeld)
        let wasPaused = session.resume()
        #expect(wasPaused)
        guard case .hold = session.next(at: .zero) else { return #expect(Bool(false)) }
    }

    @Test("L34: a pause that begins while all is stopped for another reason is in force after a stop of its own")
    func pausedWhileStopping() {
        var session = Self.started()
        session.interrupt()
        guard case .stop(let first) = session.next(at: .zero) else { return #expect(Bool(false)) }
        session.begin(AccountPause(for: nil, at: Timestamp(seconds: 1_000)), until: nil)
        session.stopped(since: first)
        #expect(!session.isHeld)
        guard case .stop(let second) = session.next(at: .zero) else { return #expect(Bool(false)) }
        session.stopped(since: second)
        #expect(session.isHeld)
    }

    @Test("An answer that comes while an attempt is under way has the server tried once more, though the attempt fails")
    func lateApproval() {
        var session = Self.started()
        _ = session.next(at: .zero)
        session.answer()
        session.failed(ConnectionError(.unapproved, "not approved"))
        session.endRound(.init(), after: nil, at: .zero)
        guard case .hold = session.next(at: .zero) else { return #expect(Bool(false)) }
        _ = session.hold(mayPass: true, at: .zero)
        let tries = session.tries(with: Self.secret, at: .zero)
        #expect(tries)
    }

    @Test("A single run has news of folders that were left, whatever else was asked for, and goes on after a rejection")
    func single() {
        var session = ServerSession(Self.secret, poll: nil, walk: .seconds(600))
        session.found(Self.facts)
        session.doubt()
        session.call(for: .foldersLeft)
        let (isFirst, isSecond) = (session.takeFoldersLeft(), session.takeFoldersLeft())
        #expect(isFirst && !isSecond)
        session.refuse(because: nil)
        #expect(session.isRefused && session.letsEngineWork && !session.isOnline)
    }

    @Test("A walk that was asked for is made with the secret that comes after a rejection")
    func walkAfterRejection() {
        var session = Self.started()
        _ = session.ask(walks: true, retries: false, for: .everything)
        _ = session.next(at: .zero)
        session.failed(ConnectionError(.authentication, "rejected"))
        session.endRound(.init(), after: nil, at: .zero)
        _ = session.next(at: .zero)
        _ = session.hold(mayPass: false, at: .zero)
        #expect(session.round?.walks == true)
        let tries = session.tries(with: AccountSecret(.basic(username: "a", password: "2")), at: .zero)
        #expect(tries && session.round?.walks == true)
    }

    @Test("C2: a rejection that comes while the server is looked for anew is not forgotten when it is found")
    func lateRejection() {
        var session = Self.started()
        _ = session.next(at: .zero)
        session.refuse(because: nil)
        session.found(Self.facts)
        session.endRound(.init(), after: nil, at: .zero)
        #expect(!session.isOnline && session.isRefused)
        guard case .hold = session.next(at: .zero) else { return #expect(Bool(false)) }
    }

    @Test("C3: a request that was not served has one scan find out, and no further one before the server is found anew")
    func doubt() {
        var session = Self.started()
        _ = session.next(at: .zero)
        session.found(Self.facts)
        session.endRound(.init(), after: nil, at: .zero)
        session.doubt()
        guard case .scan = session.next(at: .seconds(2)) else { return #expect(Bool(false)) }
        session.doubt()
        session.endRound(.init(), after: nil, at: .seconds(2))
        guard case .rest = session.next(at: .seconds(3)) else { return #expect(Bool(false)) }
    }

    @Test("A secret that was written for the loops comes into use at once, though the account's files are served")
    func offered() {
        var session = Self.started()
        _ = session.next(at: .zero)
        session.found(Self.facts)
        session.endRound(.init(), after: nil, at: .zero)
        let other = AccountSecret(.basic(username: "a", password: "2"), writing: "2")
        session.offer(other)
        guard case .use(let secret) = session.next(at: .seconds(2)) else { return #expect(Bool(false)) }
        session.use(secret)
        #expect(session.secrets.current.isSame(as: other) && session.secrets.offered == nil && !session.isOnline)
        guard case .connect = session.next(at: .seconds(2)) else { return #expect(Bool(false)) }
    }

    @Test("A closed account has nothing to do, whatever comes")
    func closed() {
        var session = Self.started()
        session.close()
        session.found(Self.facts)
        session.refuse(because: nil)
        session.begin(AccountPause(for: nil, at: Timestamp(seconds: 1_000)), until: nil)
        session.call(for: .everything)
        let number = session.ask(walks: false, retries: true, for: .everything)
        let step = session.next(at: .zero)
        #expect(number == nil && step == nil && !session.isOnline && !session.isPaused && !session.isRefused)
    }
}
