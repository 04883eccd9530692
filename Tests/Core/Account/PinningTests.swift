import Core
import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@Suite("Pinning, end to end")
struct PinningTests {
    @Test("P17: a pinned folder is here whole, at any depth, with its empty folders, and nothing else is")
    func wholeFolder() async throws {
        try await Bench.running { bench in
            bench.put("/Photos/cat.jpg", "meow")
            bench.put("/Photos/2024/May/a/b/c/dog.jpg", "woof")
            bench.server.tree.makeFolder("/Photos/empty")
            bench.put("/Music/song", "la")
            try await bench.pin("/Photos")
            try await bench.runWell()

            #expect(
                try bench.tree() == [
                    "/Photos/", "/Photos/2024/", "/Photos/2024/May/", "/Photos/2024/May/a/", "/Photos/2024/May/a/b/",
                    "/Photos/2024/May/a/b/c/", "/Photos/2024/May/a/b/c/dog.jpg", "/Photos/cat.jpg", "/Photos/empty/",
                ])
            #expect(try bench.text("/Photos/2024/May/a/b/c/dog.jpg") == "woof")
            let cat = try #require(try await bench.item("/Photos/cat.jpg"))
            #expect(cat.cloudStatus == .localCopy && cat.downloadTrigger == .availableOffline)
            #expect(cat.remoteVersion == .current)
        }
    }

    @Test("a pin of what the server does not have is named by each first scan, and keeps what comes there")
    func nothingThere() async throws {
        try await Bench.running { bench in
            bench.put("/a", "a")
            try await bench.pin("/a")
            try await bench.pin("/Phtos")
            func named() -> Int { bench.log.messages.count { $0.contains("There is nothing at /Phtos,") } }
            try await bench.runWell()
            #expect(named() == 1 && !bench.log.contains("There is nothing at /a,"))
            try await bench.runWell()
            #expect(named() == 2)
            bench.put("/Phtos/cat.jpg", "meow")
            try await bench.runWell()
            #expect(try named() == 2 && bench.text("/Phtos/cat.jpg") == "meow")
        }
    }

    @Test("P18: what is new in a pinned folder is here after the next scan, and nothing else is fetched")
    func newFile() async throws {
        try await Bench.running { bench in
            bench.put("/Photos/cat.jpg", "meow")
            try await bench.pin("/Photos")
            try await bench.runWell()
            bench.put("/Photos/2025/dog.jpg", "woof")
            try await bench.runWell()
            #expect(bench.downloads == ["/Photos/2025/dog.jpg"])
            #expect(try bench.text("/Photos/2025/dog.jpg") == "woof")
        }
    }

    @Test("P19: unpinning the outer folder keeps what the inner pin covers, and no more")
    func nested() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/b/2", "/a/b/c/3", "/a/d/4"] { bench.put(path, path) }
            try await bench.pin("/a/b")
            try await bench.pin("/a")
            try await bench.runWell()
            #expect(bench.downloads.count == 4)
            try await bench.unpin("/a")
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/b/", "/a/b/2", "/a/b/c/", "/a/b/c/3"])
            #expect(bench.downloads == [])
        }
    }

    @Test("P20: a needless pin is refused with the covering one named; a wider one names those that it makes needless")
    func redundant() async throws {
        try await Bench.running { bench in
            bench.put("/a/b/1", "one")
            let inner = try await bench.pin("/a/b").policy
            try await bench.runWell()
            let outer = try await bench.pin("/a")
            #expect(outer.redundant.map(\.id) == [inner.id])
            let refusal = await #expect(throws: Failure.self) { try await bench.pin("/a/b/1") }
            #expect(refusal?.kind == .badData)
            #expect(refusal?.message.contains(inner.id.text) == true)
            #expect(refusal?.message.contains(outer.policy.id.text) == true)
            #expect(try await bench.policies().count == 2)
        }
    }

    @Test("P21: pinning over an unmodified copy costs no byte, and remembers whose the copy was")
    func adopt() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            try await bench.download("/a/1")
            try await bench.runWell()
            #expect(bench.downloads == ["/a/1"])
            try await bench.pin("/a")
            try await bench.runWell()
            #expect(bench.downloads == [])
            let item = try #require(try await bench.item("/a/1"))
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
        }
    }

    @Test("P33: switched off nothing is done for pins; switched on again it goes on")
    func offSwitch() async throws {
        let plugin = PluginID(shortOrFull: "available-offline")
        let off = Settings(plugins: [PluginSettings(id: plugin, isEnabled: false)])
        try await Bench.running(settings: off) { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            #expect(try bench.tree() == [])
            bench.settings = Settings()
            try await bench.restart()
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/1"])
            bench.settings = off
            try await bench.restart()
            try await bench.unpin("/a")
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/1"])
        }
    }
}
