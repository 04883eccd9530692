import DemoServer
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
        try await AccountFixture.running(.plain, settings: settings, clock: .account(patience: .seconds(1.5))) {
            fixture in
            for path in ["/a/1", "/b/2", "/c/d/3"] { fixture.put(path, path) }
            try await fixture.runWell()
            let fault = fixture.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
            try await fixture.hosting {
                try await fixture.until { fixture.count("/b") == 1 && fixture.count("/c/d") == 1 }
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    return fixture.count("/b") >= 6
                }
                #expect(fixture.listings.count { $0 != "/b" } == 4, "\(fixture.listings)")
                #expect(fixture.requests("GET").filter { $0 == "/status.php" }.count <= 1)
                fixture.put("/b/new", "new")
                fixture.put("/a/new", "new")
                fixture.server.remove(fault)
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    return try await fixture.item("/b/new") != nil
                }
                #expect(try await fixture.item("/a/new") == nil)
                try await fixture.until {
                    fixture.clock.advance(.seconds(60))
                    return try await fixture.item("/a/new") != nil
                }
            }
        }
    }

    @Test("I15, I12: a walk that was cut off goes on with the folders that are left, after a restart too")
    func goesOn() async throws {
        try await AccountFixture.running(.plain) { fixture in
            for path in ["/a/1", "/b/2", "/c/d/3"] { fixture.put(path, path) }
            for isFirst in [true, false] {
                for path in ["/a/\(isFirst)", "/c/d/\(isFirst)"] { fixture.put(path, "there") }
                let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
                let host = try await fixture.ready()
                let run = Task { await host.runOnce() }
                await fixture.server.untilHeld(hold)
                for path in ["/a/\(isFirst)", "/c/d/\(isFirst)"] {
                    try await fixture.until { try await fixture.item(path) != nil }
                }
                run.cancel()
                _ = await run.value
                fixture.server.remove(hold)
                // This file changes in a folder that is already listed. The next walk finds the change.
                fixture.put("/a/later \(isFirst)", "later")
                fixture.put("/b/\(isFirst)", "there")
                try await fixture.restart()
                try await fixture.runWell()
                #expect(fixture.listings.filter { $0 != "/" } == ["/b"], "\(isFirst)")
                #expect(try await fixture.item("/b/\(isFirst)") != nil)
                #expect(try await fixture.item("/a/later \(isFirst)") == nil)
                try await fixture.runWell()
                #expect(try await fixture.item("/a/later \(isFirst)") != nil)
            }
        }
    }

    @Test("I15: a run that finishes a walk older than the interval walks whole then; after a day it begins anew")
    func old() async throws {
        try await AccountFixture.running(.plain, settings: Settings(walk: .seconds(3600))) { fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.runWell()
            for (age, expected) in [
                (Duration.seconds(60), ["/b"]), (.seconds(3600), ["/a", "/b", "/b"]), (.seconds(90_000), ["/a", "/b"]),
            ] {
                let fault = fixture.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
                try await fixture.runBadly()
                #expect(fixture.count("/a") == 1)
                fixture.server.remove(fault)
                fixture.clock.advance(age)
                try await fixture.runWell()
                #expect(fixture.listings.filter { $0 != "/" }.sorted() == expected, "\(age)")
                try await fixture.runWell()
            }
        }
    }

    @Test("C3: in maintenance the status document is asked every 10 s and nothing else; then all goes on by itself")
    func maintenance() async throws {
        let settings = Settings(poll: .seconds(60), walk: .seconds(3600))
        try await AccountFixture.running(settings: settings, clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            try await fixture.hosting {
                try await fixture.until { try await fixture.reader { try await $0.status() }.connection == .online }
                try await fixture.untilWaiting()
                fixture.put("/a/2", "two")
                fixture.server.behave { $0.maintenance = true }
                try await fixture.until {
                    fixture.clock.advance(.seconds(10))
                    return try await fixture.reader { try await $0.status() }.connection == .unavailable
                }
                fixture.server.forgetRequests()
                let start = fixture.clock.now
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    return fixture.server.requests.count >= 5
                }
                #expect(fixture.clock.now - start >= .seconds(40))
                #expect(Set(fixture.server.requests.map(\.path)) == ["/status.php"])
                #expect(try fixture.text("/a/1") == "one")
                fixture.server.behave { $0.maintenance = false }
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    return Files.exists(fixture.local("/a/2"))
                }
                #expect(try await fixture.reader { try await $0.status() }.connection == .online)
            }
        }
    }

    @Test("C3: a change that meets a server in maintenance has the host look for it at once, before the next poll")
    func maintenanceMetByChange() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(5))) { fixture in
            try await fixture.runWell()
            try await fixture.hosting {
                try await fixture.until { try await fixture.connection == .online }
                try await fixture.untilWaiting()
                fixture.server.add(Fault(.status(503)))
                let folder = ItemPath(unchecked: "/new")
                _ = try await fixture.host.perform(ServerChange([.createFolder(folder)], waits: false))
                // The clock stands still, so that no poll is due.
                try await fixture.until { try await fixture.connection == .unavailable }
                fixture.server.removeFaults()
                try await fixture.until {
                    fixture.clock.advance(.seconds(1))
                    return fixture.server.tree.exists("/new")
                }
                #expect(try await fixture.issues().isEmpty)
            }
        }
    }

    @Test(
        "C3: a running host does not call a server online whose root is not listed, for whatever reason; then all goes on",
        arguments: [(Fault.Kind.status(502), ConnectionState.unavailable), (.status(403), .offline), (.page, .offline)])
    func refusedRoot(_ kind: Fault.Kind, _ state: ConnectionState) async throws {
        try await AccountFixture.running(.plain, clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            try await fixture.hosting {
                try await fixture.until { try await fixture.connection == .online }
                try await fixture.untilWaiting()
                let fault = fixture.server.add(Fault(kind, method: "PROPFIND", path: "/"))
                try await fixture.until {
                    fixture.clock.advance(.seconds(10))
                    return try await fixture.connection == state
                }
                fixture.put("/a/2", "two")
                fixture.server.remove(fault)
                try await fixture.until {
                    fixture.clock.advance(.seconds(10))
                    return try await fixture.item("/a/2") != nil
                }
                #expect(try await fixture.connection == .online)
            }
        }
    }

    @Test("H11: a running host does not call a server online that is gone, and says so once")
    func goneServer() async throws {
        try await AccountFixture.running(.plain, clock: .account(patience: .seconds(5))) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            try await fixture.hosting {
                try await fixture.until { try await fixture.connection == .online }
                try await fixture.untilWaiting()
                await fixture.server.stop()
                try await fixture.until {
                    fixture.clock.advance(.seconds(10))
                    return try await fixture.connection == .offline
                }
                #expect(fixture.log.messages.count { $0.contains("cannot connect") } == 1, "\(fixture.log.messages)")
            }
        }
    }
}

extension AccountFixture {
    /// Waits until the host waits for the time of its next poll.
    func untilWaiting() async throws {
        try await until {
            guard let next = try await reader({ try await $0.status() }).nextPoll else { return false }
            return next > clock.now
        }
    }

    fileprivate var connection: ConnectionState {
        get async throws { try await reader { try await $0.status() }.connection }
    }

    /// Returns the number of times that a folder was listed since the run began.
    fileprivate func count(_ path: String) -> Int { listings.count { $0 == path } }
}
