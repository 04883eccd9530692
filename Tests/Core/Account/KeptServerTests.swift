import Database
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("What is known of a server is not asked for again")
struct KeptServerTests {
    private func asked(_ bench: Bench) -> [String] { bench.server.requests.map { "\($0.method) \($0.path)" } }

    @Test("I1: where nothing changed a run asks for the root alone; after a day for what kind of server it is, too")
    func once() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            #expect(asked(bench).prefix(2) == ["GET /status.php", "PROPFIND /"])
            for _ in 0..<2 {
                try await bench.runWell()
                #expect(asked(bench) == ["PROPFIND /"])
            }
            bench.clock.advance(.seconds(24 * 3600))
            try await bench.runWell()
            #expect(asked(bench).prefix(2) == ["GET /status.php", "PROPFIND /"])
            try await bench.runWell()
            #expect(asked(bench) == ["PROPFIND /"])
        }
    }

    @Test("after a failure, and with another secret, it is found out anew")
    func anew() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            let fault = bench.server.add(Fault(.status(500), method: "PROPFIND"))
            try await bench.runBadly()
            bench.server.remove(fault)
            try await bench.runWell()
            #expect(asked(bench) == ["GET /status.php", "PROPFIND /"])
            try await bench.runWell()
            #expect(asked(bench) == ["PROPFIND /"])
            // The account's folder is elsewhere now: found in the same run.
            let gone = bench.server.add(Fault(.status(404), method: "PROPFIND", path: "/", times: 1))
            try await bench.runWell()
            #expect(asked(bench) == ["PROPFIND /", "GET /status.php", "PROPFIND /"])
            bench.server.remove(gone)
            bench.secret.set(
                .basic(username: bench.server.configuration.user, password: bench.server.configuration.password))
            try await bench.restart()
            try await bench.runWell()
            #expect(asked(bench) == ["GET /status.php", "PROPFIND /"])
        }
    }

    @Test("I4: a running host knows the server's wish from before, and asks for it again after a day")
    func running() async throws {
        try await Bench.running(clock: TestClock(patience: .seconds(5))) { bench in
            bench.put("/a/1", "one")
            try await bench.hosting { try await bench.untilWaiting() }
            bench.clock.advance(.seconds(60))
            try await bench.restart()
            try await bench.hosting {
                try await bench.untilWaiting()
                #expect(asked(bench) == ["PROPFIND /"])
                let next = try #require(try await bench.reader { try await $0.status() }.nextPoll)
                #expect(next - bench.clock.now > .seconds(20))
                try await bench.until {
                    bench.clock.advance(.seconds(3600))
                    return asked(bench).contains("GET /ocs/v1.php/cloud/capabilities")
                }
                #expect(asked(bench).contains("GET /status.php"))
            }
        }
    }

    @Test(
        "P18, I4: a running host has what is new in a pinned folder after the server's wish, and does not ask before",
        arguments: [(nil, 10, 0), (5_000, 10, 0), (90_000, 90, 10), (7_200_000, 7_200, 90)])
    func wish(milliseconds: Int?, seconds: Int64, more: Int64) async throws {
        var manner = Manner()
        manner.pollInterval = milliseconds
        try await Bench.running(manner, clock: TestClock(patience: .seconds(5))) { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.hosting {
                try await bench.until { Files.exists(bench.local("/a/1")) }
                try await bench.untilWaiting()
                let next = try #require(try await bench.reader { try await $0.status() }.nextPoll)
                let left = next - bench.clock.now
                #expect(left <= .seconds(seconds) && left > .seconds(more), "\(left)")
                bench.put("/a/2", "two")
                let listed = bench.listings.count
                bench.clock.advance(left / 2)
                #expect(bench.listings.count == listed)
                try await bench.until {
                    bench.clock.advance(left / 2)
                    return Files.exists(bench.local("/a/2"))
                }
            }
        }
    }

    @Test(
        "I3, I14: the status says which kind of server was found, why, and whether moves are known there",
        arguments: [true, false])
    func report(isFamily: Bool) async throws {
        try await Bench.running(isFamily ? Manner() : .plain) { bench in
            try await bench.runWell()
            let server = try #require(try await bench.reader { try await $0.status() }.server)
            #expect(server.kind == (isFamily ? .ownCloudFamily : .webDAV))
            #expect(server.product == (isFamily ? "Larder demo" : nil))
            #expect(server.because.contains(isFamily ? "a status document" : "no status document"))
            // I14: declared where one looks.
            #expect(server.recognizesMoves == isFamily)
        }
    }
}
