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
        // A time that is not believed is not remembered.
        clock.observe(now: start + day * 30, monotonic: .seconds(3), aheadOfServer: nil)
        #expect(clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(4), aheadOfServer: nil)
        #expect(!clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(5), aheadOfServer: day)
        #expect(!clock.isSane)
        clock.observe(now: start + day * 20, monotonic: .seconds(6), aheadOfServer: .seconds(-3000))
        #expect(clock.isSane)
        // A host that ran all the time knows that the time has passed.
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
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b", "/kept"] { fixture.put(path, path) }
            try await fixture.runWell()
            for path in ["/a", "/b"] { try await fixture.download(path) }
            try await fixture.runWell()
            fixture.server.tree.remove("/b")
            try await fixture.runWell()
            fixture.clock.advance(day * 40)
            for _ in 0..<2 {
                try await fixture.runWell()
                #expect(try fixture.tree() == ["/a", "/b"])
            }
            #expect(fixture.log.messages.contains { $0.contains("no copy expires or is vacuumed") })
            fixture.clock.advance(.zero - day * 32)
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
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
        // Only the time of day is known of an earlier process.
        clock = ClockSanity(last: .init(wall: start, monotonic: nil), began: .seconds(7))
        #expect(clock.believed(start - day * 40, .seconds(17)) == start + .seconds(10))
        #expect(clock.believed(start + day, .seconds(17)) == start + day)
    }

    @Test("P59, P55: set back by 40 days, nothing just found gone is vacuumed and nothing just fetched expires")
    func setBack() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b", "/new"] { fixture.put(path, path) }
            try await fixture.runWell()
            for path in ["/a", "/b"] { try await fixture.download(path) }
            try await fixture.runWell()
            fixture.clock.set(off: day * -40)
            fixture.server.tree.remove("/b")
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a", "/b"])
            try await fixture.download("/new")
            for _ in 0..<2 {
                try await fixture.runWell()
                #expect(try fixture.tree() == ["/a", "/b", "/new"])
            }
            fixture.clock.set(off: .zero)
            fixture.clock.advance(.seconds(120))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a", "/new"])
        }
    }

    @Test("P59: set back while a host is open, before anybody looks at the clock")
    func setBackMeanwhile() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "a")
            let host = try await fixture.ready()
            #expect(await host.runOnce().worst == nil)
            let before = fixture.clock.now
            fixture.clock.set(off: day * -40)
            try await fixture.download("/a")
            _ = try await host.engine.drain(with: host.partners)
            #expect(try #require(try await fixture.item("/a")?.lastUsed) >= before)
            #expect(try await host.perform(Copies.NoteUse(ItemPath(unchecked: "/a"))) == 1)
            #expect(try #require(try await fixture.item("/a")?.lastUsed) >= before)
        }
    }

    @Test("P55, P59: set ahead by 40 days, nothing is written by that clock, and no claim ends")
    func setAhead() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "a")
            try await fixture.runWell()
            try await fixture.download("/a")
            try await fixture.runWell()
            let path = ItemPath(unchecked: "/a")
            _ = try await fixture.host.perform(Claims.Add(path, as: .read, .until(fixture.clock.now + day), id: nil))
            fixture.clock.set(off: day * 40)
            let freed = try await fixture.host.perform(Copies.Free(path))
            #expect(freed.freed == [] && freed.failures.first?.message.contains("is claimed") == true)
            try await fixture.runWell()
            fixture.clock.advance(.seconds(60))
            #expect(try await fixture.host.perform(Copies.NoteUse(path)) == 1)
            let limit = fixture.clock.now - day * 39
            #expect(try #require(try await fixture.item("/a")?.lastUsed) < limit)
            let claims = try await fixture.host.database.read { try $0.claims.all() }
            #expect(claims.count == 1)
        }
    }

    @Test("P55: the time that is counted while the clock is not believed goes on over a restart, and never back")
    func goesOn() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b"] { fixture.put(path, path) }
            try await fixture.runWell()
            fixture.clock.set(off: day * 40)
            var last = Timestamp(seconds: 0)
            for path in ["/a", "/b"] {
                try await fixture.download(path)
                let host = try await fixture.ready()
                let began = host.clock.now()
                #expect(began >= last)
                fixture.clock.advance(.seconds(100))
                #expect(await host.runOnce().worst == nil)
                last = try #require(try await fixture.item(path)?.lastUsed)
                #expect(last >= began + .seconds(100))
            }
            // The clock is right again.
            fixture.clock.set(off: .zero)
            try await fixture.runWell()
            let passed = try await fixture.host.database.read { try $0.meta.integer(.clockPassed) }
            #expect(passed == nil)
        }
    }
}
