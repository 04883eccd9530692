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
        try await AccountFixture.running { fixture in
            fixture.put("/Photos/cat.jpg", "meow")
            fixture.put("/Photos/2024/May/a/b/c/dog.jpg", "woof")
            fixture.server.tree.makeFolder("/Photos/empty")
            fixture.put("/Music/song", "la")
            try await fixture.pin("/Photos")
            try await fixture.runWell()

            #expect(
                try fixture.tree() == [
                    "/Photos/", "/Photos/2024/", "/Photos/2024/May/", "/Photos/2024/May/a/", "/Photos/2024/May/a/b/",
                    "/Photos/2024/May/a/b/c/", "/Photos/2024/May/a/b/c/dog.jpg", "/Photos/cat.jpg", "/Photos/empty/",
                ])
            #expect(try fixture.text("/Photos/2024/May/a/b/c/dog.jpg") == "woof")
            let cat = try #require(try await fixture.item("/Photos/cat.jpg"))
            #expect(cat.cloudStatus == .localCopy && cat.downloadTrigger == .availableOffline)
            #expect(cat.remoteVersion == .current)
        }
    }

    @Test("a pin of what the server does not have is named by each first scan, and keeps what comes there")
    func nothingThere() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "a")
            try await fixture.pin("/a")
            try await fixture.pin("/Phtos")
            func named() -> Int {
                fixture.log.messages.count { $0.contains("A policy is for /Phtos, where the server has nothing") }
            }
            try await fixture.runWell()
            #expect(named() == 1 && !fixture.log.contains("A policy is for /a, where the server has nothing"))
            try await fixture.runWell()
            #expect(named() == 2)
            fixture.put("/Phtos/cat.jpg", "meow")
            try await fixture.runWell()
            #expect(try named() == 2 && fixture.text("/Phtos/cat.jpg") == "meow")
        }
    }

    @Test("P18: what is new in a pinned folder is here after the next scan, and nothing else is fetched")
    func newFile() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/Photos/cat.jpg", "meow")
            try await fixture.pin("/Photos")
            try await fixture.runWell()
            fixture.put("/Photos/2025/dog.jpg", "woof")
            try await fixture.runWell()
            #expect(fixture.downloads == ["/Photos/2025/dog.jpg"])
            #expect(try fixture.text("/Photos/2025/dog.jpg") == "woof")
        }
    }

    @Test("P19: unpinning the outer folder keeps what the inner pin covers, and no more")
    func nested() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/b/2", "/a/b/c/3", "/a/d/4"] { fixture.put(path, path) }
            try await fixture.pin("/a/b")
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(fixture.downloads.count == 4)
            try await fixture.unpin("/a")
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/b/", "/a/b/2", "/a/b/c/", "/a/b/c/3"])
            #expect(fixture.downloads == [])
        }
    }

    @Test("P20: a needless pin is refused with the covering one named; a wider one names those that it makes needless")
    func redundant() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/b/1", "one")
            let inner = try await fixture.pin("/a/b").policy
            try await fixture.runWell()
            let outer = try await fixture.pin("/a")
            #expect(outer.redundant.map(\.id) == [inner.id])
            let refusal = await #expect(throws: Failure.self) { try await fixture.pin("/a/b/1") }
            #expect(refusal?.kind == .badData)
            #expect(refusal?.message.contains(inner.id.text) == true)
            #expect(refusal?.message.contains(outer.policy.id.text) == true)
            #expect(try await fixture.policies().count == 2)
        }
    }

    @Test("P21: pinning over an unmodified copy costs no byte, and remembers whose the copy was")
    func adopt() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            try await fixture.download("/a/1")
            try await fixture.runWell()
            #expect(fixture.downloads == ["/a/1"])
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            let item = try #require(try await fixture.item("/a/1"))
            #expect(item.downloadTrigger == .availableOffline && item.formerTrigger == .user)
        }
    }

    @Test("P33: switched off nothing is done for pins; switched on again it goes on")
    func offSwitch() async throws {
        let plugin = PluginID(shortOrFull: "available-offline")
        let off = Settings(plugins: [PluginSettings(id: plugin, isEnabled: false)])
        try await AccountFixture.running(settings: off) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
            fixture.settings = Settings()
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/1"])
            fixture.settings = off
            try await fixture.restart()
            try await fixture.unpin("/a")
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/1"])
        }
    }
}
