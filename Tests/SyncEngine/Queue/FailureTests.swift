import Connection
import Model
import TestSupport
import Testing

@testable import SyncEngine

struct RetryDecisionTests {
    private let now = Timestamp(seconds: 100)
    private let failure = Failure(.failed, "it failed")

    private func decision(
        _ fetch: FetchFailure, attempts: Int = 0, rounds: Int = 0, isWell: Bool = true
    ) -> RetryDecision {
        RetryDecision.of(
            fetch, attempts: attempts, rounds: rounds, serverIsWell: isWell, now: now,
            delay: { failures, wish in wish ?? .seconds(failures) },
            pause: { failures, wish in max(.seconds(1_000 * failures), wish ?? .zero) })
    }

    @Test("S23: what passes by itself waits longer each time, and as long as the server wishes")
    func transient() {
        #expect(decision(.server(failure, retryAfter: nil)) == .wait(until: Timestamp(seconds: 101), attempts: 1))
        #expect(
            decision(.server(failure, retryAfter: nil), attempts: 2)
                == .wait(until: Timestamp(seconds: 103), attempts: 3))
        #expect(
            decision(.server(failure, retryAfter: .seconds(60))) == .wait(until: Timestamp(seconds: 160), attempts: 1))
        #expect(decision(.unreachable(failure), attempts: 99) == .putBack)
        #expect(decision(.account(failure)) == .putBack)
        #expect(decision(.disk(failure)) == .putBack)
    }

    private func retry(after seconds: Int64, attempts: Int = 5) -> RetryDecision {
        .retry(at: Timestamp(seconds: 100 + seconds), attempts: attempts)
    }

    @Test("S23, S52: after the fifth failure of one file the pauses are long, unless the whole server fails")
    func lastTry() {
        // No issue tells of a server that cannot serve requests now.
        #expect(
            decision(.unavailable(failure, retryAfter: nil), attempts: 40)
                == .wait(until: Timestamp(seconds: 141), attempts: 41))
        #expect(
            decision(.unavailable(failure, retryAfter: .seconds(60)), attempts: 4)
                == .wait(until: Timestamp(seconds: 160), attempts: 5))
        // A short wish does not make a single file be asked for every few seconds, for ever.
        #expect(
            decision(.unavailable(failure, retryAfter: .seconds(2)), attempts: 40)
                == .wait(until: Timestamp(seconds: 141), attempts: 41))
        #expect(decision(.server(failure, retryAfter: nil), attempts: 4) == retry(after: 1_000))
        #expect(decision(.server(failure, retryAfter: nil), attempts: 7) == retry(after: 4_000, attempts: 8))
        #expect(decision(.server(failure, retryAfter: .seconds(5_000)), attempts: 4) == retry(after: 5_000))
        #expect(
            decision(.server(failure, retryAfter: nil), attempts: 4, isWell: false)
                == .wait(until: Timestamp(seconds: 105), attempts: 5))
        #expect(decision(.wrongChecksum(failure), attempts: 4) == retry(after: 1_000))
        #expect(decision(.brokenOff(failure, gained: false), attempts: 4) == retry(after: 1_000))
        #expect(
            decision(.brokenOff(failure, gained: true), attempts: 4)
                == .wait(until: Timestamp(seconds: 101), attempts: 4))
        // What the server refuses does not pass in a minute.
        #expect(decision(.refused(failure)) == retry(after: 3_000))
        #expect(decision(.refused(failure), attempts: 5) == retry(after: 4_000, attempts: 6))
        #expect(decision(.place(failure)) == .ask(.place))
    }

    @Test("C12: a try counts as a failure unless it brought 64 KiB, or a tenth of what was missing")
    func smallGain() {
        #expect(RetryDecision.isGain(65_536, of: 1 << 40))
        #expect(!RetryDecision.isGain(65_535, of: 1 << 40))
        #expect(!RetryDecision.isGain(1, of: 100) && RetryDecision.isGain(10, of: 100))
        #expect(RetryDecision.isGain(1, of: 2) && !RetryDecision.isGain(0, of: 2))
        #expect(!RetryDecision.isGain(65_535, of: nil) && RetryDecision.isGain(65_536, of: nil))
    }

    @Test("S16: another version is waited for three times, then the pauses are long")
    func changed() {
        #expect(decision(.changed(failure)) == .relist(rounds: 1))
        #expect(decision(.changed(failure), rounds: 2) == .relist(rounds: 3))
        #expect(decision(.changed(failure), rounds: 3) == retry(after: 1_000))
        #expect(decision(.gone(failure), rounds: 0) == .relist(rounds: 1))
    }
}

struct ServerHealthTests {
    private let backoff = Backoff(first: .seconds(1), cap: .seconds(300))
    private let failure = Failure(.unreachable, "no answer")

    @Test("S23: without a server everything is held up, longer each time up to the cap, never longer")
    func unreachable() {
        var health = ServerHealth(backoff: backoff, downloads: 2)
        var now = Timestamp(seconds: 0)
        var last = Duration.zero
        for round in 1...20 {
            health.failed(.unreachable(failure), record: 1, now: now)
            guard let until = health.hold?.until else { return #expect(Bool(false), "held up without a time") }
            // A request that was under way fails too and does not count as another failure.
            health.failed(.unreachable(failure), record: 2, now: now)
            #expect(health.hold?.until == until)
            let wait = until - now
            let longest = min(Duration.seconds(300), Duration.seconds(1 << min(round - 1, 20)))
            #expect(wait <= longest && wait >= longest / 2)
            last = wait
            var isOver = health.tick(now: now)
            #expect(!isOver)
            now = until
            isOver = health.tick(now: now)
            #expect(isOver)
        }
        #expect(last >= .seconds(150))
        health.answered()
        health.failed(.unreachable(failure), record: 1, now: now)
        #expect((health.hold?.until).map { $0 - now <= .seconds(1) } == true)
    }

    @Test("S23: one file that is not served now, or closes the connection, holds up no other")
    func brokenFile() {
        var health = ServerHealth(backoff: backoff, downloads: 2)
        let now = Timestamp(seconds: 0)
        for _ in 0..<50 {
            health.failed(.unavailable(failure, retryAfter: .seconds(60)), record: 1, now: now)
            var closed = ConnectionError(.unreachable, "h closed the connection")
            closed.isClosed = true
            health.failed(FetchFailure(closed, received: nil, gained: false), record: 2, now: now)
            #expect(health.hold == nil && health.isWell)
        }
        // If no file is served, all wait as long as the server asks.
        for record: SyncRecordID in 3...4 {
            health.failed(.unavailable(failure, retryAfter: .seconds(60)), record: record, now: now)
        }
        #expect((health.hold?.until).map { $0 >= Timestamp(seconds: 60) } == true)
    }

    @Test("S23: one broken file holds up no other; many different ones in a row, or Retry-After, hold up all")
    func brokenServer() {
        let now = Timestamp(seconds: 0)
        var health = ServerHealth(backoff: backoff, downloads: 2)
        for _ in 0..<50 { health.failed(.server(failure, retryAfter: nil), record: 1, now: now) }
        #expect(health.hold == nil && health.isWell)
        for record: SyncRecordID in 2...4 { health.failed(.server(failure, retryAfter: nil), record: record, now: now) }
        #expect(health.hold != nil && !health.isWell)
        health.reset()
        health.failed(.server(failure, retryAfter: .seconds(60)), record: 1, now: now)
        #expect((health.hold?.until).map { $0 >= Timestamp(seconds: 60) } == true)
        health.reset()
        // One that cannot serve requests now is asked again at least every ten seconds.
        for round in 1...20 {
            let now = Timestamp(seconds: Int64(round) * 100)
            for record: SyncRecordID in 1...4 {
                #expect(round > 1 || health.hold == nil)
                health.failed(.unavailable(failure, retryAfter: nil), record: record, now: now)
            }
            health.failed(.unavailable(failure, retryAfter: .seconds(5)), record: 1, now: now)
            #expect((health.hold?.until).map { $0 - now <= .seconds(10) } == true)
            _ = health.tick(now: now + .seconds(10))
        }
    }

    @Test("Somebody who waits ends a hold because nobody answered, and no hold that the server or the disk asked for")
    func demanded() {
        let now = Timestamp(seconds: 0)
        var health = ServerHealth(backoff: backoff, downloads: 2)
        health.failed(.unreachable(failure), record: 1, now: now)
        var ends = health.demanded()
        #expect(ends && health.hold == nil && health.holds == 0)
        ends = health.demanded()
        #expect(!ends)
        for other in [FetchFailure.server(failure, retryAfter: .seconds(30)), .disk(failure), .account(failure)] {
            health.failed(other, record: 1, now: now)
            ends = health.demanded()
            #expect(!ends && health.hold != nil)
            health.reset()
        }
    }

    @Test("C2: a refused account holds up all until something about it changes")
    func account() {
        var health = ServerHealth(backoff: backoff, downloads: 2)
        health.failed(.account(failure), record: 1, now: Timestamp(seconds: 0))
        health.failed(.unreachable(failure), record: 2, now: Timestamp(seconds: 0))
        #expect(health.isAccountRefused)
        let isOver = health.tick(now: Timestamp(seconds: 1 << 33))
        #expect(!isOver)
        health.reset()
        #expect(health.hold == nil)
    }
}
