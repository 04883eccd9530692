import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Walks on servers whose ETags do not tell, end to end", .timeLimit(.minutes(20)))
struct WalkTests {
    @Test("I15: a running host lists the tree once, and a folder that always fails alone, until the next walk")
    func failingFolder() async throws {
        let settings = Settings(walk: .seconds(3600))
        try await Bench.running(.plain, settings: settings, clock: TestClock(patience: .seconds(1.5))) { bench in
            for path in ["/a/1", "/b/2", "/c/d/3"] { bench.put(path, path) }
            try await bench.runWell()
            let fault = bench.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
            try await bench.hosting {
                try await bench.until { bench.count("/b") == 1 && bench.count("/c/d") == 1 }
                try await bench.until {
                    bench.clock.advance(.seconds(1))
                    return bench.count("/b") >= 6
                }
                #expect(bench.listings.count { $0 != "/b" } == 4, "\(bench.listings)")
                #expect(bench.requests("GET").filter { $0 == "/status.php" }.count <= 1)
                bench.put("/b/new", "new")
                bench.put("/a/new", "new")
                bench.server.remove(fault)
                try await bench.until {
                    bench.clock.advance(.seconds(1))
                    return try await bench.item("/b/new") != nil
                }
                #expect(try await bench.item("/a/new") == nil)
                try await bench.until {
                    bench.clock.advance(.seconds(60))
                    return try await bench.item("/a/new") != nil
                }
            }
        }
    }

    @Test("I15, I12: a walk that was cut off goes on with the folders that are left, after a restart too")
    func goesOn() async throws {
        try await Bench.running(.plain) { bench in
            for path in ["/a/1", "/b/2", "/c/d/3"] { bench.put(path, path) }
            for isFirst in [true, false] {
                for path in ["/a/\(isFirst)", "/c/d/\(isFirst)"] { bench.put(path, "there") }
                let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
                let host = try await bench.ready()
                let run = Task { await host.runOnce() }
                await bench.server.untilHeld(hold)
                for path in ["/a/\(isFirst)", "/c/d/\(isFirst)"] {
                    try await bench.until { try await bench.item(path) != nil }
                }
                run.cancel()
                _ = await run.value
                bench.server.remove(hold)
                // Changed where it was listed already: the next walk finds it.
                bench.put("/a/later \(isFirst)", "later")
                bench.put("/b/\(isFirst)", "there")
                try await bench.restart()
                try await bench.runWell()
                #expect(bench.listings.filter { $0 != "/" } == ["/b"], "\(isFirst)")
                #expect(try await bench.item("/b/\(isFirst)") != nil)
                #expect(try await bench.item("/a/later \(isFirst)") == nil)
                try await bench.runWell()
                #expect(try await bench.item("/a/later \(isFirst)") != nil)
            }
        }
    }

    @Test("I15: a run that finishes a walk older than the interval walks whole then; after a day it begins anew")
    func old() async throws {
        try await Bench.running(.plain, settings: Settings(walk: .seconds(3600))) { bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.runWell()
            for (age, expected) in [
                (Duration.seconds(60), ["/b"]), (.seconds(3600), ["/a", "/b", "/b"]), (.seconds(90_000), ["/a", "/b"]),
            ] {
                let fault = bench.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
                try await bench.runBadly()
                #expect(bench.count("/a") == 1)
                bench.server.remove(fault)
                bench.clock.advance(age)
                try await bench.runWell()
                #expect(bench.listings.filter { $0 != "/" }.sorted() == expected, "\(age)")
                try await bench.runWell()
            }
        }
    }

    @Test("C3: in maintenance the status document is asked every 10 s and nothing else; then all goes on by itself")
    func maintenance() async throws {
        let settings = Settings(poll: .seconds(60), walk: .seconds(3600))
        try await Bench.running(settings: settings, clock: TestClock(patience: .seconds(5))) { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/")
            try await bench.runWell()
            try await bench.hosting {
                try await bench.until { try await bench.reader { try await $0.status() }.connection == .online }
                try await bench.untilWaiting()
                bench.put("/a/2", "two")
                bench.server.behave { $0.maintenance = true }
                try await bench.until {
                    bench.clock.advance(.seconds(10))
                    return try await bench.reader { try await $0.status() }.connection == .unavailable
                }
                bench.server.forgetRequests()
                let start = bench.clock.now
                try await bench.until {
                    bench.clock.advance(.seconds(1))
                    return bench.server.requests.count >= 5
                }
                #expect(bench.clock.now - start >= .seconds(40))
                #expect(Set(bench.server.requests.map(\.path)) == ["/status.php"])
                #expect(try bench.text("/a/1") == "one")
                bench.server.behave { $0.maintenance = false }
                try await bench.until {
                    bench.clock.advance(.seconds(1))
                    return Files.exists(bench.local("/a/2"))
                }
                #expect(try await bench.reader { try await $0.status() }.connection == .online)
            }
        }
    }

    @Test(
        "C3: a running host does not call a server online whose root is not listed, for whatever reason; then all goes on",
        arguments: [(Fault.Kind.status(503), ConnectionState.unavailable), (.status(403), .offline), (.page, .offline)])
    func refusedRoot(_ kind: Fault.Kind, _ state: ConnectionState) async throws {
        try await Bench.running(.plain, clock: TestClock(patience: .seconds(5))) { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            try await bench.hosting {
                try await bench.until { try await bench.connection == .online }
                try await bench.untilWaiting()
                let fault = bench.server.add(Fault(kind, method: "PROPFIND", path: "/"))
                try await bench.until {
                    bench.clock.advance(.seconds(10))
                    return try await bench.connection == state
                }
                bench.put("/a/2", "two")
                bench.server.remove(fault)
                try await bench.until {
                    bench.clock.advance(.seconds(10))
                    return try await bench.item("/a/2") != nil
                }
                #expect(try await bench.connection == .online)
            }
        }
    }

    @Test("H11: a running host does not call a server online that is gone, and says so once")
    func goneServer() async throws {
        try await Bench.running(.plain, clock: TestClock(patience: .seconds(5))) { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            try await bench.hosting {
                try await bench.until { try await bench.connection == .online }
                try await bench.untilWaiting()
                await bench.server.stop()
                try await bench.until {
                    bench.clock.advance(.seconds(10))
                    return try await bench.connection == .offline
                }
                #expect(bench.log.messages.count { $0.contains("cannot connect") } == 1, "\(bench.log.messages)")
            }
        }
    }
}

extension Bench {
    /// Returns when the host waits for the time of its next poll.
    func untilWaiting() async throws {
        try await until {
            guard let next = try await reader({ try await $0.status() }).nextPoll else { return false }
            return next > clock.now
        }
    }

    fileprivate var connection: ConnectionState {
        get async throws { try await reader { try await $0.status() }.connection }
    }

    /// How often a folder was listed since the run began.
    fileprivate func count(_ path: String) -> Int { listings.count { $0 == path } }
}
