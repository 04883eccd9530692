import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("An account that the server refuses", .timeLimit(.minutes(20)))
struct AuthenticationRetryTests {
    @Test("C2: a secret that worked is tried again after 30 s, then twice as long each time, at most 15 minutes")
    func waits() {
        var refused = AuthenticationRetry()
        var now = Duration.zero
        for wait in [30, 60, 120, 240, 480, 900, 900, 900] {
            refused.refused(mayPass: true, at: now)
            #expect(refused.nextTry == now + .seconds(wait))
            let isEarly = refused.tries(hasNewSecret: false, at: now + .seconds(wait) - .milliseconds(1))
            now += .seconds(wait)
            let isDue = refused.tries(hasNewSecret: false, at: now)
            #expect(!isEarly && isDue && refused.isTrying)
        }
    }

    @Test("C2: one that never worked waits for another, which is tried at once; one that was written anew too")
    func another() {
        var refused = AuthenticationRetry()
        refused.refused(mayPass: false, at: .zero)
        let ever = refused.tries(hasNewSecret: false, at: .seconds(1_000_000))
        let another = refused.tries(hasNewSecret: true, at: .zero)
        #expect(!ever && another)
        refused.refused(mayPass: true, at: .zero)
        let anew = refused.tries(hasNewSecret: true, at: .zero)
        #expect(anew)
        // Even if the secret is written anew again and again, the waits grow.
        refused.refused(mayPass: true, at: .zero)
        #expect(refused.nextTry == .seconds(60))
    }

    @Test("C2: a host whose password is refused for a while tries it with one request each, says so, and goes on")
    func passes() async throws {
        try await AccountFixture.refusing { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.put("/a/2", "two")
            let fault = fixture.server.add(Fault(.status(401)))
            try await fixture.whileHosting {
                try await fixture.until { fixture.log.refusals == 1 }
                // The system's clock, on which the test's clock is based, advances too: a try may be due at any moment.
                var due = try #require(try await fixture.refusal { $0.nextTry != nil }.nextTry)
                #expect(due <= fixture.clock.now + .seconds(30))
                for wait in [Duration.seconds(30), .seconds(60), .seconds(120)] {
                    #expect(try await fixture.issues().map(\.code) == ["connection.authentication"])
                    let asked = fixture.server.requests.count
                    try await fixture.pass(wait / 3)
                    let requests = fixture.server.requests.count
                    if fixture.clock.now < due { #expect(requests == asked) }
                    try await fixture.pass(wait) { fixture.server.requests.count > asked }
                    let last = due
                    let refusal = try await fixture.refusal { $0.nextTry.map { $0 > last } ?? false }
                    due = try #require(refusal.nextTry)
                    #expect(due >= last + wait * 2 && due <= fixture.clock.now + wait * 2)
                    #expect(refusal.message.contains("password"))
                    let all = fixture.server.requests
                    if fixture.clock.now < due { #expect(all.count <= asked + 1, "\(all)") }
                }
                #expect(fixture.log.refusals == 1)
                fixture.server.remove(fault)
                try await fixture.until {
                    try await fixture.pass(.seconds(30)) { Files.exists(fixture.local("/a/2")) }
                    return Files.exists(fixture.local("/a/2"))
                }
                #expect(try await fixture.issues() == [])
                #expect(try await fixture.reader { try await $0.status() }.refusal == nil)
            }
        }
    }

    @Test("C2: what was written anew is tried at once, with the same content too; another that never worked, once")
    func writtenAnew() async throws {
        try await AccountFixture.refusing { fixture in
            let right = Credentials.basic(
                username: fixture.server.configuration.user, password: fixture.server.configuration.password)
            try await fixture.runWell()
            fixture.secret.set(.basic(username: "demo", password: "wrong"))
            try await fixture.whileHosting {
                let refusal = try await fixture.refusal { _ in true }
                #expect(refusal.nextTry == nil)
                let asked = fixture.server.requests.count
                for _ in 0..<3 { try await fixture.pass(.seconds(3_600)) }
                #expect(fixture.server.requests.count == asked)
                #expect(try await fixture.reader { try await $0.status() }.nextPoll == nil)

                // The right secret is set while the server rejects every secret.
                let fault = fixture.server.add(Fault(.status(401)))
                fixture.secret.set(right)
                try await fixture.pass(.seconds(10)) { fixture.server.requests.count > asked }
                fixture.server.remove(fault)
                let before = fixture.server.requests.count
                fixture.secret.set(right)
                try await fixture.pass(.seconds(10)) { fixture.server.requests.count > before }
                try await fixture.until { try await fixture.issues() == [] }
                try await fixture.until { try await fixture.reader { try await $0.status() }.connection == .online }
            }
        }
    }

    @Test("C2, K14: while loops alone are refused files go on, and a secret that was written anew is tried at once")
    func loopsRefused() async throws {
        try await AccountFixture.looping(mode: "needs leave", patience: .seconds(1.5)) { fixture in
            let right = Credentials.basic(
                username: fixture.server.configuration.user, password: fixture.server.configuration.password)
            try await fixture.runWell()
            let fault = fixture.server.add(Fault(.status(401), path: "/asked"))
            try await fixture.whileHosting {
                // The host polls the loop as soon as it has found the server.
                try await fixture.until { try await fixture.loop()?.lastResult == .error }
                fixture.put("/a", "one")
                try await fixture.until {
                    fixture.clock.scan()
                    return try await fixture.item("/a") != nil
                }
                #expect(!fixture.host.isRefused)
                fixture.server.remove(fault)
                // Without a new secret the host would poll the loop only when the loop's own time comes.
                let asked = fixture.asked
                fixture.secret.set(right)
                try await fixture.pass(.seconds(10)) { fixture.asked > asked }
                try await fixture.until { try await fixture.loop()?.lastResult == .ok }
            }
        }
    }

    @Test("C2: after a run that was refused the status says why, until a run was not")
    func refusedOnce() async throws {
        try await AccountFixture.refusing { fixture in
            let fault = fixture.server.add(Fault(.status(401)))
            try await fixture.runBadly()
            let refusal = try #require(try await fixture.reader { try await $0.status() }.refusal)
            #expect(refusal.message.contains("password") && refusal.nextTry == nil)
            fixture.server.remove(fault)
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try await fixture.reader { try await $0.status() }.refusal == nil)
        }
    }

    @Test("C2: that a secret worked is known after a restart; one that was written since is another")
    func restart() async throws {
        try await AccountFixture.refusing { fixture in
            try await fixture.runWell()
            let fault = fixture.server.add(Fault(.status(401)))
            try await fixture.whileHosting { try await fixture.refusal { $0.nextTry != nil } }
            fixture.secret.set(.basic(username: "demo", password: "wrong"))
            try await fixture.whileHosting { try await fixture.refusal { $0.nextTry == nil } }
            fixture.server.remove(fault)
            let outcome = try await fixture.runBadly()
            #expect(outcome.worst == .denied)
            #expect(outcome.issues.map(\.code) == ["connection.authentication"])
            fixture.secret.set(
                .basic(username: fixture.server.configuration.user, password: fixture.server.configuration.password))
            try await fixture.restart()
            try await fixture.runWell()
        }
    }
}

extension CollectedLog {
    /// The number of log lines that say that the server rejects the account's credentials.
    fileprivate var refusals: Int { messages.count { $0.hasPrefix("error: ") && $0.contains("does not accept") } }
}

extension AccountFixture {
    /// Runs a host while `body` runs.
    func hosting(_ body: () async throws -> Void) async throws {
        let host = try await ready()
        let run = Task { try await host.run() }
        do {
            try await body()
        } catch {
            run.cancel()
            _ = await run.result
            throw error
        }
        run.cancel()
        try await run.value
    }

    /// Runs `body` with an account whose host waits until the test advances the time.
    fileprivate static func refusing(
        isolation: isolated (any Actor)? = #isolation, _ body: (AccountFixture) async throws -> Void
    ) async throws {
        let settings = Settings(poll: .seconds(3_600), walk: .seconds(3_600))
        try await running(settings: settings, clock: .account(patience: .seconds(1.5)), body)
    }

    fileprivate func whileHosting(_ body: () async throws -> Void) async throws {
        try await restart()
        try await hosting(body)
    }

    /// Advances the time, in steps. In each step the host reads the secret's source.
    fileprivate func pass(_ time: Duration, until isSo: () -> Bool = { false }) async throws {
        var left = time
        let step = max(.seconds(2), time / 20)
        while left > .zero, !isSo() {
            let looks = secret.asked
            clock.advance(min(left, step))
            left -= step
            for _ in 0..<200 where secret.asked == looks && !isSo() {
                try await HostClock.system.sleep(.milliseconds(5))
            }
        }
    }

    /// Waits until the status shows an authentication failure that meets a condition, and returns the failure.
    @discardableResult
    fileprivate func refusal(_ isSo: (AuthenticationFailure) -> Bool) async throws -> AuthenticationFailure {
        while true {
            if let refusal = try await reader({ try await $0.status() }).refusal, isSo(refusal) { return refusal }
            try await HostClock.system.sleep(.milliseconds(5))
        }
    }
}
