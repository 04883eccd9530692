import Database
import DemoServer
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Vacuum, end to end")
struct VacuumTests {
    private static func settings(after: String) -> Settings {
        Settings(plugins: [PluginSettings(id: PluginID("org.larder.vacuum"), json: #"{"after": "\#(after)"}"#)])
    }

    private func removed(_ fixture: AccountFixture) async throws -> [String] {
        try await fixture.host.database.read { tx in
            var paths: [String] = []
            try tx.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                if item.isRemoved { paths.append(item.path.text) }
                return true
            }
            return paths
        }
    }

    @Test(
        "P46: items that are gone from the server are forgotten with their copies at the first scan after the time, not before"
    )
    func timeToLive() async throws {
        try await AccountFixture.running(settings: Self.settings(after: "1h")) { fixture in
            for path in ["/a/1", "/a/deep/2", "/b/3"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.server.tree.remove("/a")
            try await fixture.runWell()
            #expect(try await removed(fixture) == ["/a", "/a/1", "/a/deep", "/a/deep/2"])
            fixture.clock.advance(.seconds(50 * 60))
            try await fixture.runWell()
            #expect(try fixture.text("/a/deep/2") == "/a/deep/2")
            fixture.clock.advance(.seconds(11 * 60))
            try await fixture.runWell()
            #expect(try await removed(fixture) == [])
            #expect(try fixture.tree() == ["/b/", "/b/3"])
        }
    }

    @Test("P46: a run by hand for a scan's trigger vacuums while a host runs, and one for another trigger does not")
    func byHand() async throws {
        var settings = Self.settings(after: "1h")
        (settings.poll, settings.walk, settings.removalGuard) = (TestClock.poll, TestClock.poll, nil)
        try await AccountFixture.running(settings: settings) { fixture in
            let paths = (0..<20).map { "/a/\($0)" }
            for path in paths { fixture.put(path, path) }
            try await fixture.pin("/a")
            try await fixture.runWell()
            try await fixture.whileRunning { scan in
                for path in paths {
                    fixture.server.tree.remove(path)
                    await scan()
                    #expect(try await removed(fixture) == [path])
                    fixture.clock.advance(.seconds(2 * 3600))
                    let timed = try await fixture.host.perform(Policies.Run(.timer))
                    #expect(timed.failures.isEmpty && Files.exists(fixture.local(path)), "\(timed)")
                    let outcome = try await fixture.host.perform(Policies.Run(.itemListUpdateCompleted))
                    #expect(outcome.failures.isEmpty && outcome.leftCount == 0, "\(outcome)")
                    #expect(!Files.exists(fixture.local(path)))
                    #expect(try await removed(fixture) == [])
                }
            }
        }
    }

    @Test("P30: when a pinned folder is deleted on the server its policy goes, and its copies are vacuumed")
    func vanishedTarget() async throws {
        try await AccountFixture.running(settings: Self.settings(after: "1h")) { fixture in
            for path in ["/a/1", "/a/deep/2", "/b/3"] { fixture.put(path, path) }
            try await fixture.runWell()
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.server.tree.remove("/a")
            try await fixture.runWell()
            #expect(try await fixture.policies() == [])
            #expect(try fixture.text("/a/deep/2") == "/a/deep/2")
            fixture.clock.advance(.seconds(3601))
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
        }
    }

    @Test("P47: an item that is gone from one folder and comes to another by the next scan keeps its copy")
    func movedLate() async throws {
        try await AccountFixture.running(
            settings: Self.settings(after: "0s")
        ) {
            fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            // The new place cannot be listed. The scan has found the item gone, but has not finished.
            fixture.server.tree.move("/a/1", to: "/b/1")
            let fault = fixture.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
            try await fixture.runBadly()
            fixture.clock.advance(.seconds(3600))
            try await fixture.runBadly()
            #expect(try await removed(fixture) == ["/a/1"])
            fixture.server.remove(fault)
            fixture.clock.advance(.seconds(3600))
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.text("/b/1") == "/a/1")
        }
    }

    @Test("P48: a folder that cannot be removed keeps its row and goes when it can; others go on")
    func stubbornFolder() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2", "/keep"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/mine"))
            for path in ["/a", "/b"] { fixture.server.tree.remove(path) }
            try await fixture.runWell()
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/mine", "/keep"])
            #expect(try await removed(fixture) == ["/a"])
            Files.remove(fixture.local("/a/mine"))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/keep"])
            #expect(try await removed(fixture) == [])
        }
    }

    @Test("I7: forgetting a file that another one replaced leaves the other's copy where it is")
    func replaced() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "same")
            try await fixture.pin("/")
            try await fixture.runWell()
            let first = try #require(try await fixture.item("/a")).localID
            fixture.server.tree.remove("/a")
            fixture.put("/a", "same")
            try await fixture.runWell()
            #expect(try await removed(fixture) == ["/a"])
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try await removed(fixture) == [])
            #expect(try fixture.text("/a") == "same")
            #expect(try await fixture.item("/a")?.localID != first)
            #expect(try await fixture.item("/a")?.cloudStatus == .localCopy)
        }
    }

    @Test("P44: a file that was changed here and is gone from the server is never vacuumed")
    func modified() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.server.tree.remove("/a")
            try await fixture.runWell()
            // The copy is changed after the scan that found the item gone.
            try Files.write("changed here", to: fixture.local("/a/1"))
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "changed here")
            #expect(try fixture.tree() == ["/a/", "/a/1"])
        }
    }

    @Test("P46: many go in few transactions")
    func many() async throws {
        try await AccountFixture.running(settings: Settings(removalGuard: nil)) { fixture in
            for number in 0..<3000 { fixture.put("/a/\(number)", "x") }
            fixture.put("/b", "b")
            try await fixture.runWell()
            fixture.server.tree.remove("/a")
            try await fixture.runWell()
            let before = try await fixture.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try await removed(fixture) == [])
            let after = try await fixture.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            #expect(after - before < 10)
        }
    }
}
