import Database
import ItemPolicies
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("A paused account", .timeLimit(.minutes(20))) struct PauseTests {
    @Test("U9: the rest of a pause is never longer than the whole, whatever the time of day is")
    func left() {
        let now = Timestamp(seconds: 1_800_000_000)
        let pause = AccountPause(for: .seconds(60), at: now)
        #expect(pause.until == now + .seconds(60))
        #expect(pause.left(at: now + .seconds(45)) == .seconds(15))
        #expect(pause.left(at: now + .seconds(60)) == .zero)
        #expect(pause.left(at: now + .seconds(1_000)) == .zero)
        #expect(pause.left(at: now - .seconds(86_400)) == .seconds(60))
        #expect(AccountPause(for: nil, at: now).left(at: now) == nil)
        #expect(AccountPause(for: Duration.nanoseconds(Int64.max), at: now).left(at: now) != .zero)
    }

    @Test("U9: a paused account sends nothing, takes commands, and polls at once when it is resumed")
    func sendsNothing() async throws {
        try await AccountFixture.pausing { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/a/2", "two")
        } body: { fixture in
            let host = fixture.host
            fixture.put("/a/new", "new")
            let begun = try await host.perform(Pauses.Begin(for: nil))
            #expect(begun.isPaused && begun.until == nil)
            fixture.server.forgetRequests()
            #expect(!host.engine.isOnline && host.pause != nil)

            try await fixture.pin("/a")
            await host.policies.waitUntilIdle()
            #expect(try await fixture.records().count == 2)
            let waited = try await host.perform(Wait())
            #expect(waited.failures.map(\.kind) == [.failed] && waited.leftCount == 2, "\(waited)")
            #expect(waited.failures.first?.message.contains("paused") == true)
            let got = try await host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: true))
            #expect(got.failures.map(\.kind) == [.failed] && got.waiting == 1, "\(got)")
            let queued = try await host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: false))
            #expect(queued.failures.isEmpty && queued.waiting == 1, "\(queued)")
            await #expect(throws: Failure.self) { try await host.perform(Accounts.Verify(asksAgain: true)) }
            await #expect(throws: Failure.self) { try await host.perform(Loops.Poll(named: nil)) }
            // Time passes without a server, and without an end of the pause.
            await fixture.clock.untilScanned()
            fixture.clock.scan()
            await fixture.clock.untilScanned()
            #expect(fixture.server.requests.isEmpty, "\(fixture.server.requests)")

            let ended = try await host.perform(Pauses.End())
            #expect(!ended.isPaused && ended.changed && host.pause == nil)
            try await fixture.until { (try? fixture.text("/a/new")) == "new" }
            #expect(try await !host.perform(Pauses.End()).changed)
        }
    }

    @Test("U9: a pause stops a download at once, and the download goes on later without counting a failure")
    func download() async throws {
        let content = String(repeating: "0123456789abcdef", count: 20_000)
        try await AccountFixture.pausing { fixture in
            fixture.put("/big", content)
        } body: { fixture in
            let host = fixture.host
            let hold = fixture.server.add(Fault(.hold(afterBytes: 200_000), method: "GET", path: "/big"))
            try await fixture.download("/big")
            try await fixture.until { host.progress.bytesDone >= 100_000 }
            async let waited = host.perform(Wait())
            _ = try await host.perform(Pauses.Begin(for: nil))
            #expect(try await waited.failures.map(\.kind) == [.failed])
            try await fixture.until { host.progress.bytesDone == 0 }
            #expect(host.progress.filesTotal == 1)
            fixture.server.remove(hold)
            try await fixture.until { fixture.downloads == ["/big"] }
            _ = try await host.perform(Pauses.End())
            try await fixture.until { (try? fixture.text("/big")) == content }
            try await fixture.until { try await fixture.records().isEmpty }
            #expect(fixture.downloads == ["/big", "/big"])
        }
    }

    @Test("U9: a pause outlasts the host, a second one replaces its end, and it ends by itself in its time")
    func outlasts() async throws {
        try await AccountFixture.pausing { fixture in
            fixture.put("/a/1", "one")
        } body: { fixture in
            let pause = try await fixture.host.perform(Pauses.Begin(for: .seconds(50_000)))
            #expect(pause.until != nil)
        } then: { fixture in
            try await fixture.until { fixture.host.pause != nil }
            await fixture.clock.untilScanned()
            #expect(fixture.server.requests.isEmpty)
            let shorter = try await fixture.host.perform(Pauses.Begin(for: .seconds(10_000)))
            #expect(fixture.host.pause?.until == shorter.until)
            await fixture.clock.untilScanned()
            // The time of day has no effect while the host runs.
            fixture.clock.set(off: .seconds(20 * 86_400))
            fixture.clock.scan()
            await fixture.clock.untilScanned()
            #expect(fixture.host.pause != nil && fixture.server.requests.isEmpty)
            fixture.clock.set(off: .zero)
            fixture.clock.advance(.seconds(10_000))
            fixture.clock.scan()
            try await fixture.until { fixture.host.pause == nil && !fixture.server.requests.isEmpty }
            #expect(try await fixture.host.database.read { try $0.meta.text(.pause) } == nil)
        }
    }

    @Test("U9: a single run is not held by a pause, leaves it as it is, and cannot be paused")
    func singleRun() async throws {
        try await AccountFixture.pausing { fixture in
            fixture.put("/a/1", "one")
        } body: { fixture in
            try await fixture.pin("/a")
            try await fixture.until { try await fixture.records().isEmpty && fixture.tree().count == 2 }
            _ = try await fixture.host.perform(Pauses.Begin(for: nil))
            fixture.put("/a/2", "two")
        } then: { (fixture: AccountFixture) async throws -> Void in
            #expect(try await fixture.host.database.read { try $0.meta.text(.pause) } != nil)
        } once: { (fixture: AccountFixture) async throws -> Void in
            #expect(try fixture.text("/a/2") == "two")
            #expect(try await fixture.host.database.read { try $0.meta.text(.pause) } != nil)
            await #expect(throws: Failure.self) { try await fixture.host.perform(Pauses.Begin(for: nil)) }
            for length in [Int64.min, -1, 0] {
                var command = Pauses.Begin(for: nil)
                command.nanoseconds = length
                do throws(Failure) {
                    try await fixture.host.perform(command)
                    Testing.Issue.record("a pause of \(length) ns began")
                } catch {
                    #expect(error.kind == .badData)
                }
            }
        }
    }
}

extension AccountFixture {
    /// Runs `body` with an account at work, which scans when the test or a command says so.
    /// - Parameters:
    ///   - prepare: puts files on the server before the first run.
    ///   - then: runs with the next host of the account, if there is to be one.
    ///   - once: runs after a single run that follows.
    fileprivate static func pausing(
        isolation: isolated (any Actor)? = #isolation, _ prepare: (AccountFixture) async throws -> Void,
        body: (AccountFixture) async throws -> Void, then: ((AccountFixture) async throws -> Void)? = nil,
        once: ((AccountFixture) async throws -> Void)? = nil
    ) async throws {
        try await running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            try await prepare(fixture)
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                try await body(fixture)
            }
            if let then { try await fixture.hosting { try await then(fixture) } }
            if let once {
                try await fixture.run()
                try await once(fixture)
            }
        }
    }
}
