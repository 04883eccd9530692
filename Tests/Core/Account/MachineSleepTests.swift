import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("An account on a machine that slept", .timeLimit(.minutes(20))) struct MachineSleepTests {
    @Test("L34: a sleep is noticed once, by the clock that stands still in it, and short ones are noticed together")
    func notice() {
        var sleep = MachineSleep(monotonic: .seconds(100), awake: .seconds(5_000))
        #expect(sleep.observe(monotonic: .seconds(110), awake: .seconds(5_010)) == nil)
        #expect(sleep.observe(monotonic: .seconds(140), awake: .seconds(5_012)) == .seconds(28))
        #expect(sleep.observe(monotonic: .seconds(150), awake: .seconds(5_022)) == nil)
        #expect(sleep.observe(monotonic: .milliseconds(150_900), awake: .milliseconds(5_022_300)) == nil)
        #expect(
            sleep.observe(monotonic: .milliseconds(151_800), awake: .milliseconds(5_022_600)) == .milliseconds(1_200))
        // Two clocks are not read at the same moment.
        #expect(sleep.observe(monotonic: .milliseconds(151_800), awake: .milliseconds(5_022_610)) == nil)
    }

    @Test("L34: when the machine has slept the server is polled at once, and no connection from before is waited for")
    func wake() async throws {
        let content = String(repeating: "0123456789abcdef", count: 20_000)
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/big", content)
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                let hold = fixture.server.add(Fault(.hold(afterBytes: 200_000), method: "GET", path: "/big"))
                try await fixture.download("/big")
                try await fixture.until {
                    fixture.host.progress.bytesDone >= 100_000
                        && fixture.host.engine.transfers.map(\.path.text) == ["/big"]
                }
                fixture.put("/a/2", "two")
                fixture.server.forgetRequests()
                fixture.clock.sleepMachine(.seconds(600))
                try await fixture.until { try await fixture.item("/a/2") != nil }
                // The download begins anew while the server still holds the connection from before.
                try await fixture.until { fixture.downloads == ["/big"] }
                fixture.server.remove(hold)
                try await fixture.until { (try? fixture.text("/big")) == content }
                try await fixture.until { try await fixture.records().isEmpty }
                #expect(fixture.host.engine.transfers.isEmpty && fixture.host.pause == nil)
                await fixture.clock.untilScanned()

                // Time that passes while the machine is awake is no sleep.
                fixture.server.forgetRequests()
                fixture.clock.advance(.seconds(600))
                fixture.host.process.sleepers.check()
                #expect(fixture.listings.isEmpty)
            }
        }
    }
}
