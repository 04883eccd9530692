import CLarder
import DemoServer
import EventLoops
import Model
import TestSupport
import Testing

/// What a loop may ask of the host, and what it is refused.
@Suite struct LoopServicesTests {
    @Test("GL3: a loop's call of the host from another thread is refused, counted and named")
    func elsewhere() async throws {
        try await withLoopBench(mode: "elsewhere 0") { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(bench.said.contains("from elsewhere -11"))
            #expect(bench.log.contains("refused records.get: called from a thread"))
            #expect(try await bench.records().count == 4)
        }
    }

    @Test("A poll changes nothing: a record that it puts is refused")
    func putInPoll() async throws {
        try await withLoopBench(mode: "put in poll 0") { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(bench.said.contains("put in poll -12"))
            #expect(bench.log.contains("refused records.put: not allowed during poll"))
        }
    }

    @Test("A loop writes what is its own, JSON objects, and at most 16 MiB in a turn; its reads see what it asked for")
    func limits() async throws {
        try await withLoopBench(mode: "denied 0", pages: 1) { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(
                bench.said.filter { $0.hasSuffix(" -6") || $0.hasSuffix(" -2") || $0.hasSuffix(" -8") }
                    == ["calendars -6", "other -6", "empty key -2", "no object -2", "no JSON -2", "too much -8"])
            #expect(bench.said.contains("much 0"))
            #expect(bench.said.contains("removed 0"))
            #expect(bench.said.contains("gone -3"))
            #expect(try await bench.records() == ["count=1", "page 1"])
        }
    }

    @Test("GL3: http streams an answer from the account's server, with its credentials")
    func http() async throws {
        try await withLoopBench(mode: "http 0", pages: 1, target: "FOLDER/hello.txt") { bench async throws in
            bench.server.tree.put("/hello.txt", String(repeating: "x", count: 300_000))
            _ = await bench.loops.runOnce()
            #expect(
                bench.said.prefix(6) == [
                    "http 0", "status 200", "header 300000", "body 300000", "closed 0", "again -2",
                ])
        }
    }

    @Test(
        "http refuses another server, and says why",
        arguments: ["https://example.org/", "http://127.0.0.1:9/x", "//example.org/x"])
    func anotherServer(target: String) async throws {
        try await withLoopBench(mode: "http 0", pages: 1, target: target) { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(bench.said.contains("http -6") || bench.said.contains("status 404"), "\(bench.said)")
        }
    }

    @Test("GL3: dav streams the responses of a multistatus, and has its end only then")
    func dav() async throws {
        try await withLoopBench(mode: "dav 0", pages: 1) { bench async throws in
            _ = await bench.loops.runOnce()
            #expect(bench.said.contains("dav 0"))
            #expect(bench.said.contains("early -12"))
            #expect(bench.said.contains("end 0"))
        }
    }

    @Test("L26 GL5: a call that goes on for too long fails its loop alone, and is asked to end")
    func hangs() async throws {
        let clock = ManualClock()
        try await withLoopBench(mode: "hang 0", clock: clock.host) { bench async throws in
            async let failures = bench.loops.runOnce()
            await until { bench.said.contains("hangs 0") && !clock.deadlines.isEmpty }
            clock.advance(to: .seconds(600))
            #expect(await failures.count == 1)
            let result = try await bench.state()?.lastResult
            #expect(result == .error)
            #expect(try await bench.state()?.eventID == EventID("0"))
            let calls = try bench.calls()
            #expect(calls.contains("poll looper cancelled"))
        }
    }

    @Test(
        "GL5: a page without an event id, with an empty one, or one that is not UTF-8 fails its loop alone",
        arguments: ["no id 1", "empty id 1", "bad id 1", "unknown status 1"])
    func badPages(mode: String) async throws {
        try await withLoopBench(mode: mode) { bench async throws in
            #expect(await bench.loops.runOnce().count == 1)
            #expect(try await bench.state()?.eventID == EventID("1"))
            #expect(try await bench.records() == ["count=1", "page 1"])
        }
    }

    @Test("GL4: pages are given back, each once, and the plugin's thread ends with its last loop")
    func released() async throws {
        let log = CollectedLog()
        try await withLoopBench(mode: "refresh everything 1", log: log) { bench async throws in
            _ = await bench.loops.runOnce()
        }
        #expect(log.contains("pages left 0"))
    }
}
