import DemoServer
import Model
import TestSupport
import Testing

@testable import Core

@Suite("Whether the clock is believed")
struct ClockSanityTests {
    private let day = Duration.seconds(86_400)
    private let start = Timestamp(seconds: 1_800_000_000)

    @Test("P55: small steps and days go; a step back, and a month nobody saw, do not, until the server's clock agrees")
    func table() {
        var clock = ClockSanity(last: .init(wall: start, monotonic: nil))
        clock.look(now: start - .seconds(9), monotonic: .zero, aheadOfServer: nil)
        #expect(clock.isSane)
        clock.look(now: start + day * 29, monotonic: .seconds(1), aheadOfServer: nil)
        #expect(clock.isSane)
        clock.look(now: start + day * 60, monotonic: .seconds(2), aheadOfServer: nil)
        #expect(!clock.isSane)
        // What is not believed is not remembered.
        clock.look(now: start + day * 30, monotonic: .seconds(3), aheadOfServer: nil)
        #expect(clock.isSane)
        clock.look(now: start + day * 20, monotonic: .seconds(4), aheadOfServer: nil)
        #expect(!clock.isSane)
        clock.look(now: start + day * 20, monotonic: .seconds(5), aheadOfServer: day)
        #expect(!clock.isSane)
        clock.look(now: start + day * 20, monotonic: .seconds(6), aheadOfServer: .seconds(-3000))
        #expect(clock.isSane)
        // A host that ran all the time knows that the time passed.
        clock.look(now: start + day * 80, monotonic: .seconds(6) + day * 60, aheadOfServer: nil)
        #expect(clock.isSane)
    }

    @Test("P55: the first look is believed")
    func first() {
        var clock = ClockSanity(last: nil)
        clock.look(now: Timestamp(seconds: 0), monotonic: .zero, aheadOfServer: nil)
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
}
