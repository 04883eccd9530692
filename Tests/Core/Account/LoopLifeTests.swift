import Database
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("Event loops in the life of an account", .timeLimit(.minutes(20)))
struct LoopLifeTests {
    /// More than a period with its jitter, less than two.
    private let period = Duration.seconds(80)

    @Test("L34: a host polls when it finds the server, asks nothing while that is away, and at once when it is back")
    func away() async throws {
        try await Bench.looping(mode: "needs http") { bench in
            try await bench.runWell()
            try await bench.whileRunning { scan in
                try await bench.until { bench.asked == 1 }
                let fault = bench.server.add(Fault(.cutOff(afterBytes: 0)))
                // A scan that did not succeed has the server looked for, which says that it is away.
                for _ in 0..<2 { await scan() }
                for _ in 0..<3 {
                    bench.clock.advance(period)
                    await scan()
                }
                #expect(bench.asked == 1)
                bench.server.remove(fault)
                await scan()
                try await bench.until { bench.asked == 2 }
            }
        }
    }

    @Test("K14, L34, C2: refused credentials stop the loops, and other ones set them going, whoever was refused")
    func refused() async throws {
        try await Bench.looping(mode: "needs http") { bench in
            let right = Credentials.basic(
                username: bench.server.configuration.user, password: bench.server.configuration.password)
            try await bench.runWell()
            let before = bench.turns
            try await bench.whileRunning { _ in
                try await bench.until { bench.asked == 1 && bench.turns > before }
                let state = bench.host.state
                let fault = bench.server.add(Fault(.status(401)))
                bench.clock.advance(period)
                try await bench.until { state.isRefused }
                let secrets = bench.secret.asked
                try await bench.until {
                    bench.clock.advance(period)
                    return bench.secret.asked > secrets + 2
                }
                #expect(bench.asked == 2)

                let requests = bench.server.requests.count
                bench.secret.set(.basic(username: "ada", password: "neither"))
                try await bench.until {
                    bench.clock.advance(period)
                    return bench.server.requests.count > requests
                }
                try await bench.until { state.isRefused }
                bench.server.remove(fault)
                bench.secret.set(right)
                try await bench.until {
                    bench.clock.advance(period)
                    bench.clock.scan()
                    return !state.isRefused
                }
                try await bench.until { bench.asked == 3 }
                try await bench.until { try await bench.loop()?.lastResult == .ok }
            }
        }
    }

    @Test("A loop's wish makes a running host list that folder at once, though nothing above it says that it changed")
    func looks() async throws {
        try await Bench.looping(mode: "look 0", target: "/Shared/deep") { bench in
            for path in ["/Shared/deep/1", "/other/1"] { bench.put(path, "one") }
            try await bench.runWell()
            bench.server.behave { $0.propagation = .none }
            for path in ["/Shared/deep/2", "/other/2"] { bench.put(path, "two") }
            try await bench.whileRunning { _ in
                try await bench.until { try await bench.item("/Shared/deep/2") != nil }
                #expect(try await bench.item("/other/2") == nil)
            }
        }
    }

    @Test("GL4: a running host ends a plugin's thread with its last loop, and makes another with the next")
    func lastLoop() async throws {
        try await Bench.looping(mode: "needs http") { bench in
            try await bench.runWell()
            try await bench.restart()
            try await bench.hosting {
                try await bench.until { try await bench.loop()?.lastResult == .ok }
                _ = try await bench.host.perform(Loops.Switch(named: "looper", enabled: false))
                #expect(bench.log.contains("pages left 0"))
                let asked = bench.asked
                bench.clock.advance(period)
                _ = try await bench.host.perform(Loops.Switch(named: "looper", enabled: true))
                try await bench.until {
                    bench.clock.advance(period)
                    return bench.asked > asked
                }
            }
        }
    }

    @Test("L34: a machine that slept for hours polls at once, and once")
    func slept() async throws {
        try await Bench.looping(mode: "needs http") { bench in
            try await bench.runWell()
            let before = bench.turns
            try await bench.whileRunning { scan in
                try await bench.until { bench.asked == 1 && bench.turns == before + 1 }
                bench.clock.advance(.seconds(8 * 3600))
                try await bench.until { bench.asked == 2 && bench.turns == before + 2 }
                await scan()
                #expect(bench.asked == 2)
                bench.clock.advance(period)
                try await bench.until { bench.asked == 3 }
            }
        }
    }

    @Test("L14, L24: one run takes all pages, and gives the loops that came up in them their turn")
    func once() async throws {
        try await Bench.looping(pages: 3, follower: true) { bench in
            try await bench.runWell()
            #expect(try await bench.loop()?.lastResult == .refresh)
            try await bench.runWell()
            let ids = try await bench.host.database.read { try $0.loops.all() }.map {
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
        try await Bench.looping(mode: "fail in poll 0") { bench in
            bench.put("/a", "one")
            try await bench.runWell()
            for _ in 0..<2 {
                let outcome = try await bench.runBadly()
                #expect(outcome.worst == .failed)
                #expect(outcome.failures.map(\.message) == ["The loop looper:looper: as it was told to"])
            }
            #expect(try await bench.item("/a") != nil)
        }
    }

    @Test("L33: a server that offered nothing is asked again after a day, whoever starts meanwhile")
    func rests() async throws {
        try await Bench.looping(mode: "nothing there") { bench in
            let polls = { bench.log.messages.count { $0.hasPrefix("info: nothing there") } }
            try await bench.runWell()
            for _ in 0..<3 { try await bench.runWell() }
            #expect(polls() == 1)
            #expect(try await bench.loop()?.lastResult == .notOffered)
            bench.clock.advance(.seconds(23 * 3600))
            try await bench.runWell()
            #expect(polls() == 1)
            bench.clock.advance(.seconds(3600))
            try await bench.runWell()
            #expect(polls() == 2)
        }
    }
}
