import EventLoops
import Model
import TestServer
import TestSupport
import Testing

/// Requests whose answers are waited for later.
@Suite struct AheadTests {
    private static let sent = ["unknown flag -2", "ahead 0", "before 0", "ahead 0", "before 0"]

    @Test("GL3: two requests that are sent ahead are at the server at the same time, and read one after the other")
    func bothUnderWay() async throws {
        try await withLoopBench(mode: "ahead 0", pages: 1, target: "FOLDER/") { bench async throws in
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND"))
            async let failures = bench.loops.runOnce()
            await bench.server.untilHeld(hold, count: 2)
            #expect(Array(bench.said) == Self.sent)
            bench.server.remove(hold)
            #expect(await failures.isEmpty)
            #expect(Array(bench.said.dropFirst(5).prefix(6)) == Self.read + Self.read)
        }
    }

    private static let read = ["after 207", "read 0", "closed 0"]

    @Test("With one connection the second of them is sent when the first was read")
    func oneConnection() async throws {
        try await withLoopBench(mode: "ahead 0", pages: 1, target: "FOLDER/", connections: 1) { bench async throws in
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", times: 1))
            // The second would be refused while the first is held up.
            let refusal = bench.server.add(Fault(.status(500), method: "PROPFIND", from: 2))
            async let failures = bench.loops.runOnce()
            await bench.server.untilHeld(hold)
            bench.server.remove(refusal)
            bench.server.remove(hold)
            #expect(await failures.isEmpty)
            #expect(Array(bench.said.prefix(11)) == Self.sent + Self.read + Self.read)
        }
    }

    @Test("GL4: answers that were asked for ahead and never read are closed with the call")
    func unread() async throws {
        try await withLoopBench(mode: "leave ahead 0", pages: 1, target: "FOLDER/") { bench async throws in
            bench.server.add(Fault(.hold(), method: "PROPFIND"))
            #expect(await bench.loops.runOnce().isEmpty)
            #expect(Array(bench.said.prefix(5)) == Self.sent)
            #expect(try await bench.records() == ["count=1", "page 1"])
            bench.server.removeFaults()
        }
    }

    @Test("GL5 L16: a call with two requests under way that is to end ends, and stores nothing")
    func cancelled() async throws {
        try await withLoopBench(mode: "ahead 0", pages: 1, target: "FOLDER/") { bench async throws in
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND"))
            async let failures = bench.loops.runOnce()
            await bench.server.untilHeld(hold, count: 2)
            await bench.loops.suspend()
            _ = await failures
            #expect(
                Array(bench.said.dropFirst(5))
                    == ["after 0", "read -9", "closed 0", "after 0", "read -9", "closed 0"])
            #expect(try await bench.state()?.eventID == EventID("0"))
            #expect(try await bench.records() == [])
            bench.server.removeFaults()
        }
    }

    @Test("What goes wrong with a request that was sent ahead is what its first response is asked for with")
    func failure() async throws {
        try await withLoopBench(mode: "ahead 0", pages: 1, target: "FOLDER/") { bench async throws in
            bench.server.add(Fault(.status(503), method: "PROPFIND"))
            _ = await bench.loops.runOnce()
            #expect(Array(bench.said.dropFirst(5).prefix(3)) == ["after 0", "read -10", "closed 0"])
        }
        try await withLoopBench(mode: "ahead 0", pages: 1, target: "https://example.org/") { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(Array(bench.said.dropFirst(5).prefix(3)) == ["after 0", "read -6", "closed 0"])
        }
    }
}
