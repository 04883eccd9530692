import Glibc
import ItemPolicies
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Threads

@testable import Core

struct StartedAccountTests {
    /// The plugin's log is a pipe without a reader, so that its first call waits.
    @Test("H18: an account is one of those that start until the processors have seen what its first poll found")
    func place() async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("recorder", to: "\(folder)/recorder.so")
            #expect(mkfifo("\(folder)/calls", 0o600) == 0)
            let plugin = PluginSettings(
                id: PluginID("org.example.recorder"), library: "\(folder)/recorder.so", isolation: .inProcess,
                json: #"{"log": "\#(folder)/calls", "match": "", "cleanup": ""}"#)
            try await AccountFixture.running(settings: Settings(poll: TestClock.poll, plugins: [plugin])) { fixture in
                fixture.put("/a", "one")
                let host = try await fixture.ready()
                let run = Task { try await host.run() }
                await fixture.clock.untilScanned()
                let (isIdle, isLeft) = (host.policies.isIdle, host.state.place.isLeft)
                let log = Descriptor(open("\(folder)/calls", O_RDONLY | O_NONBLOCK | O_CLOEXEC))
                #expect(!isIdle && !isLeft && log.number >= 0)
                try await fixture.until { host.state.place.isLeft && host.policies.isIdle }
                run.cancel()
                try await run.value
            }
        }
    }

    @Test("H18: an account whose interval has passed has a place among the few; a command's poll needs none")
    func polling() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll)) { fixture in
            fixture.put("/a", "one")
            let host = try await fixture.ready()
            let run = Task { try await host.run() }
            await fixture.clock.untilScanned()
            let polling = host.process.polling
            #expect(polling.count == 0)
            var hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/"))
            fixture.clock.scan()
            await fixture.server.untilHeld(hold)
            #expect(polling.count == 1)
            fixture.server.remove(hold)
            await fixture.clock.untilScanned()
            #expect(polling.count == 0)

            hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/"))
            async let poll = host.poll(walks: false)
            await fixture.server.untilHeld(hold)
            #expect(polling.count == 0)
            fixture.server.remove(hold)
            #expect(try await poll.unreached == nil)
            run.cancel()
            try await run.value
        }
    }

    @Test("H18: a poll closes its connections if the next one comes late, but none that a download uses")
    func connections() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll)) { fixture in
            fixture.put("/a", "one")
            try await fixture.pin("/a")
            let hold = fixture.server.add(Fault(.hold(), method: "GET", path: "/a"))
            let host = try await fixture.ready()
            let run = Task { try await host.run() }
            await fixture.server.untilHeld(hold)
            await fixture.clock.untilScanned()
            try await fixture.until { host.state.place.isLeft }
            #expect(!fixture.server.isLeft)
            fixture.server.remove(hold)
            try await fixture.until { Files.exists(fixture.local("/a")) }
            #expect(fixture.server.count("GET", "/a") == 1)
            fixture.clock.scan()
            try await fixture.until { fixture.server.isLeft }
            run.cancel()
            try await run.value
        }
    }
}
