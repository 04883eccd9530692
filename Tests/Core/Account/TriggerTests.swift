import DemoServer
import ItemPolicies
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Which triggers an account's work gives")
struct TriggerTests {
    @Test("P11: the first scan after a start counts as one with changes, later ones as what they are")
    func firstScan() async throws {
        try await recording { fixture, triggers in
            fixture.put("/a/1", "one")
            try await fixture.whileRunning { scan in
                func expect(_ expected: [String], _ place: SourceLocation = #_sourceLocation) throws {
                    let given = try triggers()
                    #expect(given == expected, sourceLocation: place)
                }
                try expect(["itemsChanged", "itemListUpdateCompleted"])
                await scan()
                try expect(["itemListUpdateCompletedWithoutChanges"])
                fixture.put("/a/1", "two")
                await scan()
                try expect(["itemsChanged", "itemListUpdateCompleted"])
            }
            try await fixture.whileRunning { _ in
                let afterStart = try triggers()
                #expect(afterStart == ["itemListUpdateCompleted"])
            }
        }
    }

    @Test("P12: a scan with a folder that failed gives no trigger; when the rest is done it counts as one with changes")
    func failedScan() async throws {
        try await recording(.plain, clock: .account(patience: .seconds(1.5))) { fixture, triggers in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.whileRunning { _ in
                _ = try triggers()
                fixture.put("/a/3", "three")
                let fault = fixture.server.add(Fault(.status(403), method: "PROPFIND", path: "/b"))
                fixture.clock.scan()
                // The host soon asks again for the listing that failed.
                try await fixture.until {
                    let next = try await fixture.reader { try await $0.status() }.nextPoll
                    return next.map { $0 < fixture.clock.now + .seconds(60) } ?? false
                }
                await fixture.host.policies.waitUntilIdle()
                let afterFailure = try triggers()
                #expect(afterFailure == ["itemsChanged", "timer"])
                fixture.server.remove(fault)
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    let next = try await fixture.reader { try await $0.status() }.nextPoll
                    return next.map { $0 > fixture.clock.now + .seconds(1_000) } ?? false
                }
                await fixture.host.policies.waitUntilIdle()
                let afterRest = try triggers()
                #expect(afterRest == ["itemListUpdateCompleted"])
            }
        }
    }

    @Test("P51: a scan whose removals are held gives no trigger; when the items are back it counts as one with changes")
    func heldScan() async throws {
        try await recording { fixture, triggers in
            for number in 0..<30 { fixture.put("/box/\(number)", "x") }
            try await fixture.whileRunning { scan in
                _ = try triggers()
                fixture.server.tree.move("/box", to: "/away")
                await scan()
                let afterMove = try triggers()
                #expect(afterMove == ["itemsChanged", "itemListUpdateCompleted"])
                let saved = fixture.server.tree.read { $0 }
                fixture.server.tree.remove("/away")
                for _ in 0..<2 {
                    await scan()
                    let whileHeld = try triggers()
                    // The root itself has another ETag.
                    #expect(whileHeld.allSatisfy { $0 == "itemsChanged" })
                }
                fixture.put("/kept", "x")
                await scan()
                let whatIsNew = try triggers()
                #expect(whatIsNew == ["itemsChanged"])
                fixture.server.tree.change { $0 = saved }
                fixture.put("/kept", "x")
                await scan()
                let whenBack = try triggers()
                #expect(whenBack.last == "itemListUpdateCompleted")
            }
        }
    }

    private func recording(
        _ manner: Manner = Manner(), clock: TestClock = .account(),
        _ body: (AccountFixture, () throws -> [String]) async throws -> Void
    ) async throws {
        try await Self.recording(manner, clock: clock) { fixture, triggers in
            // Each transaction is a run of its own. Their number is not tested here.
            try await body(fixture) { try triggers().reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
        }
    }

    /// Runs an account with a plugin that records its calls. `body` gets a function that returns the triggers of the
    /// runs since its last call.
    static func recording(
        _ manner: Manner = Manner(), clock: TestClock = .account(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture, @escaping () throws -> [String]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("recorder", to: "\(folder)/recorder.so")
            let plugin = PluginSettings(
                id: PluginID("org.example.recorder"), library: "\(folder)/recorder.so", isolation: .inProcess,
                json: #"{"log": "\#(folder)/calls", "match": "", "cleanup": ""}"#)
            try await AccountFixture.running(
                manner, settings: Settings(poll: TestClock.poll, walk: TestClock.poll, plugins: [plugin]), clock: clock
            ) { fixture in
                try await body(fixture) {
                    guard Files.exists("\(folder)/calls") else { return [] }
                    defer { Files.remove("\(folder)/calls") }
                    return try Files.text("\(folder)/calls").split(separator: "\n")
                        .filter { $0.hasPrefix("willEnterTrigger ") }.map { String($0.split(separator: " ")[1]) }
                }
            }
        }
    }
}

extension AccountFixture {
    /// Runs the account as a service does. `body` runs after the first scan, and gets a function that makes one more
    /// scan.
    func whileRunning(_ body: (_ scan: () async -> Void) async throws -> Void) async throws {
        let host = try await ready()
        let run = Task { try await host.run() }
        let settle = { [clock] in
            await clock.untilScanned()
            await host.policies.waitUntilIdle()
        }
        await settle()
        do {
            try await body {
                self.clock.scan()
                await settle()
            }
        } catch {
            run.cancel()
            throw error
        }
        run.cancel()
        try await run.value
    }
}
