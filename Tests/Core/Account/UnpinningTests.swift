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
        try await Bench.running { bench in
            for path in ["/a/1", "/a/b/2", "/a/b/c/3"] { bench.put(path, path) }
            bench.server.tree.makeFolder("/a/empty")
            try await bench.pin("/a")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/b/2"))
            try await bench.unpin("/a")
            try await bench.run()
            #expect(try bench.tree() == ["/a/", "/a/b/", "/a/b/2"])
            #expect(try bench.text("/a/b/2") == "mine")
            #expect(try await bench.item("/a/1")?.cloudStatus == .cloudOnly)
            #expect(try await bench.item("/a/b/2")?.cloudStatus == .locallyModified)
        }
    }

    @Test("P25: a copy that a program has open stays, is named, and goes when it is free")
    func inUse() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2", "/b/3"] { bench.put(path, path) }
            try await bench.pin("/a")
            try await bench.pin("/b")
            try await bench.runWell()
            let reader = open(bench.local("/a/2"), O_RDONLY | O_CLOEXEC)
            #expect(reader >= 0)
            try await bench.unpin("/a")
            for _ in 0..<2 {
                let outcome = try await bench.runBadly()
                #expect(outcome.left.map(\.path.text) == ["/a/2"])
                #expect(outcome.left.first?.why.contains("open in another program") == true)
                #expect(outcome.issues == [])
                #expect(try bench.tree() == ["/a/", "/a/2", "/b/", "/b/3"])
                bench.clock.advance(.seconds(60))
            }
            close(reader)
            try await bench.runWell()
            #expect(try bench.tree() == ["/b/", "/b/3"])
            #expect(try await bench.item("/a/2")?.cloudStatus == .cloudOnly)
        }
    }

    @Test("P26: without a server the copies go all the same")
    func offline() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            try await bench.unpin("/a")
            await bench.server.stop()
            let outcome = try await bench.run()
            #expect(outcome.worst == .unreachable)
            #expect(try bench.tree() == [])
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
        try await Bench.running(settings: settings) { bench in
            bench.put("/a/1", "one")
            bench.put("/a/2", "two")
            try await bench.runWell()
            try await bench.download("/a/1")
            try await bench.pin("/a")
            try await bench.runWell()
            bench.clock.advance(.seconds(3600))
            let before = bench.clock.now
            try await bench.unpin("/a")
            try await bench.runWell()
            let item = try #require(try await bench.item("/a/1"))
            if keeps {
                #expect(try bench.tree() == ["/a/", "/a/1"])
                #expect(item.downloadTrigger == .user && item.formerTrigger == nil)
                #expect(try #require(item.lastUsed) >= before)
            } else {
                #expect(try bench.tree() == [])
                #expect(item.downloadTrigger == nil)
            }
        }
    }

    @Test("P29: downloads that were not started when the pin goes are never asked of the server")
    func queued() async throws {
        var settings = Settings()
        settings.limits.downloads = 2
        try await Bench.running(settings: settings) { bench in
            for number in 1...50 { bench.put("/a/\(number)", "content") }
            try await bench.runWell()
            let hold = bench.server.add(Fault(.hold(), method: "GET", path: "/a", below: true))
            try await bench.pin("/a")
            let host = try await bench.ready()
            async let run = host.runOnce()
            await bench.server.untilHeld(hold, count: 2)
            try await bench.unpin("/a")
            // The processor is at rest when what it asked for is in the journal.
            await host.policies.waitUntilIdle()
            bench.server.remove(hold)
            _ = await run
            #expect(bench.downloads.count <= 2)
            #expect(try bench.tree() == [])
        }
    }
}
