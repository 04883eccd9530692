import DemoServer
import Glibc
import ItemPolicies
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Unpinning, end to end")
struct UnpinningTests {
    @Test("P25: what the pin brought goes with its folders; a file that was changed here stays")
    func unpin() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/b/2", "/a/b/c/3"] { fixture.put(path, path) }
            fixture.server.tree.makeFolder("/a/empty")
            try await fixture.pin("/a")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/b/2"))
            try await fixture.unpin("/a")
            try await fixture.run()
            #expect(try fixture.tree() == ["/a/", "/a/b/", "/a/b/2"])
            #expect(try fixture.text("/a/b/2") == "mine")
            #expect(try await fixture.item("/a/1")?.cloudStatus == .cloudOnly)
            #expect(try await fixture.item("/a/b/2")?.cloudStatus == .locallyModified)
        }
    }

    @Test("P25: a copy that a program has open stays, is named, and goes when it is free")
    func inUse() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2", "/b/3"] { fixture.put(path, path) }
            try await fixture.pin("/a")
            try await fixture.pin("/b")
            try await fixture.runWell()
            let reader = open(fixture.local("/a/2"), O_RDONLY | O_CLOEXEC)
            #expect(reader >= 0)
            try await fixture.unpin("/a")
            for _ in 0..<2 {
                let outcome = try await fixture.runBadly()
                #expect(outcome.left.map(\.path.text) == ["/a/2"])
                #expect(outcome.left.first?.why.contains("open in another program") == true)
                #expect(outcome.issues == [])
                #expect(try fixture.tree() == ["/a/", "/a/2", "/b/", "/b/3"])
                fixture.clock.advance(.seconds(60))
            }
            close(reader)
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/b/", "/b/3"])
            #expect(try await fixture.item("/a/2")?.cloudStatus == .cloudOnly)
        }
    }

    @Test("P25: a copy that comes while its pin goes, goes too, without another scan")
    func landing() async throws {
        let settings = Settings(poll: TestClock.poll, walk: TestClock.poll)
        try await AccountFixture.running(settings: settings) { fixture in
            let paths = (0..<8).map { "/a/\($0)" }
            for path in paths { fixture.put(path, path) }
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                for round in 0..<40 {
                    try await fixture.pin("/a")
                    // The row says that the copy is here a moment after the copy is.
                    await TestSupport.until { Files.exists(fixture.local(paths[round % paths.count])) }
                    try await fixture.unpin("/a")
                    let isGone = try await TestSupport.until(atMost: .seconds(60)) {
                        for path in paths where try await fixture.item(path)?.cloudStatus != .cloudOnly { return false }
                        return try await fixture.records().isEmpty && fixture.tree() == []
                    }
                    guard isGone else {
                        Testing.Issue.record("round \(round): \(try fixture.tree()) stays")
                        break
                    }
                }
            }
        }
    }

    @Test("P26: without a server the copies go all the same")
    func offline() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            try await fixture.unpin("/a")
            await fixture.server.stop()
            let outcome = try await fixture.run()
            #expect(outcome.worst == .unreachable)
            #expect(try fixture.tree() == [])
        }
    }

    @Test(
        "P27: what was here before the pin stays and counts as used now; with keep-downloads off it goes",
        arguments: [true, false])
    func keepDownloads(_ keeps: Bool) async throws {
        let settings = Settings(plugins: [
            PluginSettings(
                id: PluginID(shortOrFull: "available-offline"), json: keeps ? "{}" : #"{"keep-downloads": false}"#)
        ])
        try await AccountFixture.running(settings: settings) { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/a/2", "two")
            try await fixture.runWell()
            try await fixture.download("/a/1")
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.clock.advance(.seconds(3600))
            let before = fixture.clock.now
            try await fixture.unpin("/a")
            try await fixture.runWell()
            let item = try #require(try await fixture.item("/a/1"))
            if keeps {
                #expect(try fixture.tree() == ["/a/", "/a/1"])
                #expect(item.downloadTrigger == .user && item.formerTrigger == nil)
                #expect(try #require(item.lastUsed) >= before)
            } else {
                #expect(try fixture.tree() == [])
                #expect(item.downloadTrigger == nil)
            }
        }
    }

    @Test("P29: downloads that were not started when the pin goes are never asked of the server")
    func queued() async throws {
        var settings = Settings()
        settings.limits.downloads = 2
        try await AccountFixture.running(settings: settings) { fixture in
            for number in 1...50 { fixture.put("/a/\(number)", "content") }
            try await fixture.runWell()
            let hold = fixture.server.add(Fault(.hold(), method: "GET", path: "/a", below: true))
            try await fixture.pin("/a")
            let host = try await fixture.ready()
            async let run = host.runOnce()
            await fixture.server.untilHeld(hold, count: 2)
            try await fixture.unpin("/a")
            // The processor is idle when the actions that it requested are in the journal.
            await host.policies.waitUntilIdle()
            fixture.server.remove(hold)
            _ = await run
            #expect(fixture.downloads.count <= 2)
            #expect(try fixture.tree() == [])
        }
    }
}
