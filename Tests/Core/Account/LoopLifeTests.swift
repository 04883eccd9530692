import Database
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Threads
import Vault

@testable import Core

@Suite("Event loops in the life of an account", .timeLimit(.minutes(20)))
struct LoopLifeTests {
    /// More than a period with its jitter, less than two periods.
    private let period = Duration.seconds(80)

    @Test("L34: a host polls when it finds the server, asks nothing while that is away, and at once when it is back")
    func away() async throws {
        try await AccountFixture.looping(mode: "needs http") { fixture in
            try await fixture.runWell()
            try await fixture.whileRunning { scan in
                try await fixture.until { fixture.asked == 1 }
                let fault = fixture.server.add(Fault(.cutOff(afterBytes: 0)))
                // After an unsuccessful scan the host searches for the server, and finds it away.
                for _ in 0..<2 { await scan() }
                for _ in 0..<3 {
                    fixture.clock.advance(period)
                    await scan()
                }
                #expect(fixture.asked == 1)
                fixture.server.remove(fault)
                await scan()
                try await fixture.until { fixture.asked == 2 }
            }
        }
    }

    @Test("K14, L34, C2: refused credentials stop the loops, and other ones set them going, whoever was refused")
    func refused() async throws {
        try await AccountFixture.looping(mode: "needs http") { fixture in
            let right = Credentials.basic(
                username: fixture.server.configuration.user, password: fixture.server.configuration.password)
            try await fixture.runWell()
            let before = fixture.turns
            try await fixture.whileRunning { _ in
                try await fixture.until { fixture.asked == 1 && fixture.turns > before }
                let host = fixture.host
                let fault = fixture.server.add(Fault(.status(401)))
                fixture.clock.advance(period)
                try await fixture.until { host.isRefused }
                let secrets = fixture.secret.asked
                try await fixture.until {
                    fixture.clock.advance(period)
                    return fixture.secret.asked > secrets + 2
                }
                #expect(fixture.asked == 2)

                let requests = fixture.server.requests.count
                fixture.secret.set(.basic(username: "ada", password: "neither"))
                try await fixture.until {
                    fixture.clock.advance(period)
                    return fixture.server.requests.count > requests
                }
                try await fixture.until { host.isRefused }
                fixture.server.remove(fault)
                fixture.secret.set(right)
                try await fixture.until {
                    fixture.clock.advance(period)
                    fixture.clock.scan()
                    return !host.isRefused
                }
                try await fixture.until { fixture.asked == 3 }
                try await fixture.until { try await fixture.loop()?.lastResult == .ok }
            }
        }
    }

    @Test("A loop's wish makes a running host list that folder at once, though nothing above it says that it changed")
    func looks() async throws {
        try await AccountFixture.looping(mode: "look 0", target: "/Shared/deep") { fixture in
            for path in ["/Shared/deep/1", "/other/1"] { fixture.put(path, "one") }
            try await fixture.runWell()
            // What is left out of the ETags above it is found by the loop alone, and no ETag is contradicted.
            fixture.server.behave { $0.propagation = .toParent }
            for path in ["/Shared/deep/2", "/other/2"] { fixture.put(path, "two") }
            try await fixture.whileRunning { _ in
                try await fixture.until { try await fixture.item("/Shared/deep/2") != nil }
                #expect(try await fixture.item("/other/2") == nil)
            }
        }
    }

    @Test("A call for a folder that the scan in progress has listed walks nothing, even where ETags tell of nothing")
    func lateCall() async throws {
        let settings = Settings(poll: TestClock.poll, walk: TestClock.poll)
        try await AccountFixture.running(
            .plain, settings: settings, clock: .account(patience: .seconds(5))
        ) { fixture in
            for path in ["/a/1", "/b/1"] { fixture.put(path, "one") }
            try await fixture.whileRunning { _ in
                fixture.server.forgetRequests()
                fixture.clock.advance(.seconds(10))
                fixture.host.tell { $0.call(for: .foldersLeft) }
                // The host waits for the rest of the interval.
                _ = await fixture.clock.untilSleeping { $0 > TestClock.poll - .seconds(60) && $0 < TestClock.poll }
                #expect(fixture.listings == [])

                fixture.host.tell { $0.call(for: .everything) }
                try await fixture.until { fixture.listings.count == 3 }
            }
        }
    }

    @Test("GL4: a running host ends a plugin's thread with its last loop, and makes another with the next")
    func lastLoop() async throws {
        try await AccountFixture.looping(mode: "needs http") { fixture in
            try await fixture.runWell()
            try await fixture.restart()
            try await fixture.hosting {
                try await fixture.until { try await fixture.loop()?.lastResult == .ok }
                _ = try await fixture.host.perform(Loops.Switch(named: "looper", enabled: false))
                #expect(fixture.log.contains("pages left 0"))
                let asked = fixture.asked
                fixture.clock.advance(period)
                _ = try await fixture.host.perform(Loops.Switch(named: "looper", enabled: true))
                try await fixture.until {
                    fixture.clock.advance(period)
                    return fixture.asked > asked
                }
            }
        }
    }

    @Test("L34: an account that is taken out of the config forgets how far its loops had come; one that ends does not")
    func removed() async throws {
        try await AccountFixture.looping(pages: 2) { fixture in
            func forgets(_ leave: (Bookmark) async throws -> Void) async throws -> Bool {
                try await fixture.runWell()
                #expect(try await fixture.loop()?.eventID != nil)
                try await fixture.close()
                try await leave(fixture.bookmark)
                try await fixture.start()
                #expect(try await fixture.host.database.read { try $0.records.count(in: looped) } > 0)
                return try await fixture.loop()?.eventID == nil
            }
            let looped = RecordCollection("org.example.looper")
            let secret = Credentials.basic(
                username: fixture.server.configuration.user, password: fixture.server.configuration.password)
            for leaves in [false, true] {
                // As a reload of the config has a running host end the account.
                let isForgotten = try await forgets { bookmark in
                    let process = try fixture.makeProcess()
                    let (states, began) = AsyncStream.makeStream(of: Bool.self)
                    let keeping = Task {
                        try await process.keep(
                            bookmark, isAlone: false, leaves: { leaves }, credentials: { AccountSecret(secret) },
                            atWork: { began.yield($0 != nil) })
                    }
                    _ = await states.first { $0 }
                    keeping.cancel()
                    try await keeping.value
                    try await process.close()
                }
                #expect(isForgotten == leaves)
            }
            // As `account remove` does where no host runs.
            #expect(try await forgets { try await AccountRemains.logOut($0) })
        }
    }

    @Test("L34: a machine that slept for hours polls at once, and once")
    func slept() async throws {
        try await AccountFixture.looping(mode: "needs http") { fixture in
            try await fixture.runWell()
            let before = fixture.turns
            try await fixture.whileRunning { scan in
                try await fixture.until { fixture.asked == 1 && fixture.turns == before + 1 }
                fixture.clock.advance(.seconds(8 * 3600))
                try await fixture.until { fixture.asked == 2 && fixture.turns == before + 2 }
                await scan()
                #expect(fixture.asked == 2)
                fixture.clock.advance(period)
                try await fixture.until { fixture.asked == 3 }
            }
        }
    }

    @Test("L14, L24: one run takes all pages, and gives the loops that came up in them their turn")
    func once() async throws {
        try await AccountFixture.looping(pages: 3, follower: true) { fixture in
            try await fixture.runWell()
            #expect(try await fixture.loop()?.lastResult == .refresh)
            try await fixture.runWell()
            let ids = try await fixture.host.database.read { try $0.loops.all() }.map {
                "\($0.key) \($0.eventID?.text ?? "-")"
            }
            #expect(
                ids == [
                    "looper:looper 3", "follower:refreshed 1", "follower:count 0", "follower:page 1 0",
                    "follower:page 2 0", "follower:page 3 0",
                ])
        }
    }

    @Test("L09: a loop that fails makes a run's exit code, and the next one polls it again")
    func fails() async throws {
        try await AccountFixture.looping(mode: "fail in poll 0") { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            for _ in 0..<2 {
                let outcome = try await fixture.runBadly()
                #expect(outcome.worst == .failed)
                #expect(outcome.failures.map(\.message) == ["The loop looper:looper: as it was told to"])
            }
            #expect(try await fixture.item("/a") != nil)
        }
    }

    @Test("L33: a server that offered nothing is asked again after a day, whoever starts meanwhile")
    func rests() async throws {
        try await AccountFixture.looping(mode: "nothing there") { fixture in
            let polls = { fixture.log.messages.count { $0.hasPrefix("info: nothing there") } }
            try await fixture.runWell()
            for _ in 0..<3 { try await fixture.runWell() }
            #expect(polls() == 1)
            #expect(try await fixture.loop()?.lastResult == .notOffered)
            fixture.clock.advance(.seconds(23 * 3600))
            try await fixture.runWell()
            #expect(polls() == 1)
            fixture.clock.advance(.seconds(3600))
            try await fixture.runWell()
            #expect(polls() == 2)
        }
    }
}
