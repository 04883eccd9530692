import EventLoops
import Model
import TestServer
import TestSupport
import Testing

/// Tests of requests that are sent ahead and whose answers are awaited later.
@Suite struct AheadTests {
    private static let sent = ["unknown flag -2", "ahead 0", "before 0", "ahead 0", "before 0"]

    @Test("GL3: two requests that are sent ahead are at the server at the same time, and read one after the other")
    func bothUnderWay() async throws {
        try await withLoopFixture(mode: "ahead 0", pages: 1, target: "FOLDER/") { fixture async throws in
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND"))
            async let failures = fixture.loops.runOnce()
            await fixture.server.untilHeld(hold, count: 2)
            #expect(Array(fixture.said) == Self.sent)
            fixture.server.remove(hold)
            #expect(await failures.isEmpty)
            #expect(Array(fixture.said.dropFirst(5).prefix(6)) == Self.read + Self.read)
        }
    }

    private static let read = ["after 207", "read 0", "closed 0"]

    @Test("With one connection the second of them is sent when the first was read")
    func oneConnection() async throws {
        try await withLoopFixture(mode: "ahead 0", pages: 1, target: "FOLDER/", connections: 1) {
            fixture async throws in
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", times: 1))
            // The second request would be refused while the first request is held up.
            let refusal = fixture.server.add(Fault(.status(500), method: "PROPFIND", from: 2))
            async let failures = fixture.loops.runOnce()
            await fixture.server.untilHeld(hold)
            fixture.server.remove(refusal)
            fixture.server.remove(hold)
            #expect(await failures.isEmpty)
            #expect(Array(fixture.said.prefix(11)) == Self.sent + Self.read + Self.read)
        }
    }

    @Test("GL4: answers that were asked for ahead and never read are closed with the call")
    func unread() async throws {
        try await withLoopFixture(mode: "leave ahead 0", pages: 1, target: "FOLDER/") { fixture async throws in
            fixture.server.add(Fault(.hold(), method: "PROPFIND"))
            #expect(await fixture.loops.runOnce().isEmpty)
            #expect(Array(fixture.said.prefix(5)) == Self.sent)
            #expect(try await fixture.records() == ["count=1", "page 1"])
            fixture.server.removeFaults()
        }
    }

    @Test("GL5 L16: a call with two requests under way that is to end ends, and stores nothing")
    func cancelled() async throws {
        try await withLoopFixture(mode: "ahead 0", pages: 1, target: "FOLDER/") { fixture async throws in
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND"))
            async let failures = fixture.loops.runOnce()
            await fixture.server.untilHeld(hold, count: 2)
            await fixture.loops.suspend()
            _ = await failures
            #expect(
                Array(fixture.said.dropFirst(5))
                    == ["after 0", "read -9", "closed 0", "after 0", "read -9", "closed 0"])
            #expect(try await fixture.state()?.eventID == EventID("0"))
            #expect(try await fixture.records() == [])
            fixture.server.removeFaults()
        }
    }

    @Test("What goes wrong with a request that was sent ahead is what its first response is asked for with")
    func failure() async throws {
        try await withLoopFixture(mode: "ahead 0", pages: 1, target: "FOLDER/") { fixture async throws in
            fixture.server.add(Fault(.status(503), method: "PROPFIND"))
            _ = await fixture.loops.runOnce()
            #expect(Array(fixture.said.dropFirst(5).prefix(3)) == ["after 0", "read -10", "closed 0"])
        }
        try await withLoopFixture(mode: "ahead 0", pages: 1, target: "https://example.org/") { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(Array(fixture.said.dropFirst(5).prefix(3)) == ["after 0", "read -6", "closed 0"])
        }
    }
}
