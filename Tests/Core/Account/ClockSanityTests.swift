import Database
import DemoServer
import ItemList
import LocalTree
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("Whether the clock is believed")
struct ClockSanityTests {
    private let day = Duration.seconds(86_400)
    private let start = Timestamp(seconds: 1_800_000_000)

    @Test("P55: small steps and days go; a step back, and a month nobody saw, do not, until the server's clock agrees")
    func table() {
        var clock = ClockSanity(last: .init(wall: start, monotonic: nil))
        clock.observe(now: start - .seconds(9), monotonic: .zero, aheadOfServer: nil)
        #expect(clock.isSane)
        clock.observe(now: start + day * 29, monotonic: .seconds(1), aheadOfServer: nil)
        #expect(clock.isSane)
        clock.observe(now: start + day * 60, monotonic: .seconds(2), aheadOfServer: nil)
        #expect(!clock.isSane)
        // What is not believed is not remembered.
        clock.observe(now: start + day * 30, monotonic: .seconds(3), aheadOfServer: nil)
        #expect(clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(4), aheadOfServer: nil)
        #expect(!clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(5), aheadOfServer: day)
        #expect(!clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(6), aheadOfServer: .seconds(-3000))
        #expect(clock.isSane)
        // A host that ran all the time knows that the time passed.
        clock.observe(now: start + day * 80, monotonic: .seconds(6) + day * 60, aheadOfServer: nil)
        #expect(clock.isSane)
    }

    @Test("P55: the first look is believed")
    func first() {
        var clock = ClockSanity(last: nil)
        clock.observe(now: Timestamp(seconds: 0), monotonic: .zero, aheadOfServer: nil)
        #expect(clock.isSane)
    }

    @Test("P55: while the clock is not believed nothing expires and nothing is vacuumed, over a restart too")
    func suspended() async throws {
        try await Bench.running { bench in
            for path in ["/a", "/b", "/kept"] { bench.put(path, path) }
            try await bench.runWell()
            for path in ["/a", "/b"] { try await bench.download(path) }
            try await bench.runWell()
            bench.server.tree.remove("/b")
            try await bench.runWell()
            bench.clock.advance(day * 40)
            for _ in 0..<2 {
                try await bench.runWell()
                #expect(try bench.tree() == ["/a", "/b"])
            }
            #expect(bench.log.messages.contains { $0.contains("no copy expires or is vacuumed") })
            bench.clock.advance(.zero - day * 32)
            try await bench.runWell()
            #expect(try bench.tree() == [])
        }
    }

    @Test("P59: a step shows at once: what is written then goes on from the time before, and ages are counted to it")
    func stepBetweenLooks() {
        var clock = ClockSanity(last: nil)
        clock.observe(now: start, monotonic: .seconds(100), aheadOfServer: nil)
        #expect(clock.believed(start + .seconds(5), .seconds(105)) == start + .seconds(5))
        for step in [day * -40, .seconds(-3600), day * 40] {
            #expect(clock.believed(start + step, .seconds(160)) == start + .seconds(60))
            #expect(clock.agesTo(start + step, .seconds(160)) == start)
        }
        // Of an earlier process only the time of day is known.
        clock = ClockSanity(last: .init(wall: start, monotonic: nil), began: .seconds(7))
        #expect(clock.believed(start - day * 40, .seconds(17)) == start + .seconds(10))
        #expect(clock.believed(start + day, .seconds(17)) == start + day)
    }

    @Test("P59, P55: set back by 40 days, nothing just found gone is vacuumed and nothing just fetched expires")
    func setBack() async throws {
        try await Bench.running { bench in
            for path in ["/a", "/b", "/new"] { bench.put(path, path) }
            try await bench.runWell()
            for path in ["/a", "/b"] { try await bench.download(path) }
            try await bench.runWell()
            bench.clock.set(off: day * -40)
            bench.server.tree.remove("/b")
            try await bench.runWell()
            #expect(try bench.tree() == ["/a", "/b"])
            try await bench.download("/new")
            for _ in 0..<2 {
                try await bench.runWell()
                #expect(try bench.tree() == ["/a", "/b", "/new"])
            }
            bench.clock.set(off: .zero)
            bench.clock.advance(.seconds(120))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a", "/new"])
        }
    }

    @Test("P59: set back while a host is open, before anybody looks at the clock")
    func setBackMeanwhile() async throws {
        try await Bench.running { bench in
            bench.put("/a", "a")
            let host = try await bench.ready()
            #expect(await host.runOnce().worst == nil)
            let before = bench.clock.now
            bench.clock.set(off: day * -40)
            try await bench.download("/a")
            _ = try await host.engine.drain(with: host.partners)
            #expect(try #require(try await bench.item("/a")?.lastUsed) >= before)
            #expect(try await host.perform(Copies.NoteUse(ItemPath(unchecked: "/a"))) == 1)
            #expect(try #require(try await bench.item("/a")?.lastUsed) >= before)
        }
    }

    @Test("P55, P59: set ahead by 40 days, nothing is written by that clock, and no claim ends")
    func setAhead() async throws {
        try await Bench.running { bench in
            bench.put("/a", "a")
            try await bench.runWell()
            try await bench.download("/a")
            try await bench.runWell()
            let path = ItemPath(unchecked: "/a")
            _ = try await bench.host.perform(Claims.Add(path, as: .read, .until(bench.clock.now + day), id: nil))
            bench.clock.set(off: day * 40)
            let freed = try await bench.host.perform(Copies.Free(path))
            #expect(freed.freed == [] && freed.failures.first?.message.contains("is claimed") == true)
            try await bench.runWell()
            bench.clock.advance(.seconds(60))
            #expect(try await bench.host.perform(Copies.NoteUse(path)) == 1)
            let limit = bench.clock.now - day * 39
            #expect(try #require(try await bench.item("/a")?.lastUsed) < limit)
            let claims = try await bench.host.database.read { try $0.claims.all() }
            #expect(claims.count == 1)
        }
    }
}
