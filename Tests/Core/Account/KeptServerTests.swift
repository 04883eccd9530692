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
    /// Returns the requests, without the one for the favorites, which each start makes.
    private func asked(_ fixture: AccountFixture) -> [String] {
        fixture.server.requests.filter { $0.method != "REPORT" }.map { "\($0.method) \($0.path)" }
    }

    @Test("I1: where nothing changed a run asks for the root alone; after a day for what kind of server it is, too")
    func once() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            #expect(asked(fixture).prefix(2) == ["GET /status.php", "PROPFIND /"])
            for _ in 0..<2 {
                try await fixture.runWell()
                #expect(asked(fixture) == ["PROPFIND /"])
            }
            fixture.clock.advance(.seconds(24 * 3600))
            try await fixture.runWell()
            #expect(asked(fixture).prefix(2) == ["GET /status.php", "PROPFIND /"])
            try await fixture.runWell()
            #expect(asked(fixture) == ["PROPFIND /"])
        }
    }

    @Test("after a failure, and with another secret, it is found out anew")
    func anew() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            let fault = fixture.server.add(Fault(.status(500), method: "PROPFIND"))
            try await fixture.runBadly()
            fixture.server.remove(fault)
            try await fixture.runWell()
            #expect(asked(fixture) == ["GET /status.php", "PROPFIND /"])
            try await fixture.runWell()
            #expect(asked(fixture) == ["PROPFIND /"])
            // The account's folder has moved. The same run finds it.
            let gone = fixture.server.add(Fault(.status(404), method: "PROPFIND", path: "/", times: 1))
            try await fixture.runWell()
            #expect(asked(fixture) == ["PROPFIND /", "GET /status.php", "PROPFIND /"])
            fixture.server.remove(gone)
            fixture.secret.set(
                .basic(username: fixture.server.configuration.user, password: fixture.server.configuration.password))
            try await fixture.restart()
            try await fixture.runWell()
            #expect(asked(fixture) == ["GET /status.php", "PROPFIND /"])
        }
    }

    @Test("I4: a running host knows the server's wish from before, and asks for it again after a day")
    func running() async throws {
        // A wait of half a minute would last half a minute: the checks of the tree are as long.
        let (before, after) = (Duration.seconds(40), Duration.seconds(50))
        var manner = Manner()
        manner.pollInterval = 40_000
        try await AccountFixture.running(manner, clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.hosting { await fixture.clock.untilSleeping(for: before) }
            fixture.clock.advance(.seconds(60))
            try await fixture.restart()
            try await fixture.hosting {
                await fixture.clock.untilSleeping(for: before)
                #expect(asked(fixture) == ["PROPFIND /"])
                // The server's wish is another one by now, which only its capabilities tell.
                fixture.server.behave { $0.pollInterval = 50_000 }
                for _ in 0..<25 where !asked(fixture).contains("GET /status.php") {
                    fixture.clock.advance(.seconds(3600))
                    _ = await fixture.clock.untilSleeping { $0 == before || $0 == after }
                }
                #expect(asked(fixture).contains("GET /status.php"))
                await fixture.clock.untilSleeping(for: after)
            }
        }
    }

    @Test(
        "P18, I4: a running host has what is new in a pinned folder after the server's wish, and does not ask before",
        arguments: [(nil, 10, 0), (5_000, 10, 0), (90_000, 90, 10), (7_200_000, 7_200, 90)])
    func wish(milliseconds: Int?, seconds: Int64, more: Int64) async throws {
        var manner = Manner()
        manner.pollInterval = milliseconds
        try await AccountFixture.running(manner, clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.hosting {
                try await fixture.until { Files.exists(fixture.local("/a/1")) }
                // The clock goes on meanwhile. With half of the wait left nothing is asked before the test has looked.
                var left = Duration.zero
                try await fixture.until {
                    guard let next = try await fixture.reader({ try await $0.status() }).nextPoll else { return false }
                    left = next - fixture.clock.now
                    // On a slow machine the poll was due before the test saw its time: the next one is waited for.
                    if left <= .zero { fixture.clock.advance(.zero) }
                    return left > .seconds(max(more, seconds / 2))
                }
                #expect(left <= .seconds(seconds), "\(left)")
                fixture.put("/a/2", "two")
                let listed = fixture.listings.count
                fixture.clock.advance(left / 2)
                #expect(fixture.listings.count == listed)
                try await fixture.until {
                    fixture.clock.advance(left / 2)
                    return Files.exists(fixture.local("/a/2"))
                }
            }
        }
    }

    @Test(
        "I3, I14: the status says which kind of server was found, why, and whether moves are known there",
        arguments: [true, false])
    func report(isFamily: Bool) async throws {
        try await AccountFixture.running(isFamily ? Manner() : .plain) { fixture in
            try await fixture.runWell()
            let server = try #require(try await fixture.reader { try await $0.status() }.server)
            #expect(server.kind == (isFamily ? .ownCloudFamily : .webDAV))
            #expect(server.product == (isFamily ? "Larder demo" : nil))
            #expect(server.because.contains(isFamily ? "a status document" : "no status document"))
            // I14: the status, where people read it, declares whether the server's moves are recognized.
            #expect(server.recognizesMoves == isFamily)
        }
    }
}
