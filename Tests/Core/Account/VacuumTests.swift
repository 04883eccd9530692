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

    private func removed(_ bench: Bench) async throws -> [String] {
        try await bench.host.database.read { tx in
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
        try await Bench.running(settings: Self.settings(after: "1h")) { bench in
            for path in ["/a/1", "/a/deep/2", "/b/3"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.server.tree.remove("/a")
            try await bench.runWell()
            #expect(try await removed(bench) == ["/a", "/a/1", "/a/deep", "/a/deep/2"])
            bench.clock.advance(.seconds(50 * 60))
            try await bench.runWell()
            #expect(try bench.text("/a/deep/2") == "/a/deep/2")
            bench.clock.advance(.seconds(11 * 60))
            try await bench.runWell()
            #expect(try await removed(bench) == [])
            #expect(try bench.tree() == ["/b/", "/b/3"])
        }
    }

    @Test("P30: when a pinned folder is deleted on the server its policy goes, and its copies are vacuumed")
    func vanishedTarget() async throws {
        try await Bench.running(settings: Self.settings(after: "1h")) { bench in
            for path in ["/a/1", "/a/deep/2", "/b/3"] { bench.put(path, path) }
            try await bench.runWell()
            try await bench.pin("/a")
            try await bench.runWell()
            bench.server.tree.remove("/a")
            try await bench.runWell()
            #expect(try await bench.policies() == [])
            #expect(try bench.text("/a/deep/2") == "/a/deep/2")
            bench.clock.advance(.seconds(3601))
            try await bench.runWell()
            #expect(try bench.tree() == [])
        }
    }

    @Test("P47: an item that is gone from one folder and comes to another by the next scan keeps its copy")
    func movedLate() async throws {
        try await Bench.running(
            settings: Self.settings(after: "0s")
        ) {
            bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            // The new place cannot be listed: the scan has found the item gone, and is not at its end.
            bench.server.tree.move("/a/1", to: "/b/1")
            let fault = bench.server.add(Fault(.status(500), method: "PROPFIND", path: "/b"))
            try await bench.runBadly()
            bench.clock.advance(.seconds(3600))
            try await bench.runBadly()
            #expect(try await removed(bench) == ["/a/1"])
            bench.server.remove(fault)
            bench.clock.advance(.seconds(3600))
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.text("/b/1") == "/a/1")
        }
    }

    @Test("P48: a folder that cannot be removed keeps its row and goes when it can; others go on")
    func stubbornFolder() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2", "/keep"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/mine"))
            for path in ["/a", "/b"] { bench.server.tree.remove(path) }
            try await bench.runWell()
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/mine", "/keep"])
            #expect(try await removed(bench) == ["/a"])
            Files.remove(bench.local("/a/mine"))
            try await bench.runWell()
            #expect(try bench.tree() == ["/keep"])
            #expect(try await removed(bench) == [])
        }
    }

    @Test("I7: forgetting a file that another one replaced leaves the other's copy where it is")
    func replaced() async throws {
        try await Bench.running { bench in
            bench.put("/a", "same")
            try await bench.pin("/")
            try await bench.runWell()
            let first = try #require(try await bench.item("/a")).localID
            bench.server.tree.remove("/a")
            bench.put("/a", "same")
            try await bench.runWell()
            #expect(try await removed(bench) == ["/a"])
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try await removed(bench) == [])
            #expect(try bench.text("/a") == "same")
            #expect(try await bench.item("/a")?.localID != first)
            #expect(try await bench.item("/a")?.cloudStatus == .localCopy)
        }
    }

    @Test("P44: a file that was changed here and is gone from the server is never vacuumed")
    func modified() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.server.tree.remove("/a")
            try await bench.runWell()
            // After the scan that found it gone.
            try Files.write("changed here", to: bench.local("/a/1"))
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "changed here")
            #expect(try bench.tree() == ["/a/", "/a/1"])
        }
    }

    @Test("P46: many go in few transactions")
    func many() async throws {
        try await Bench.running(settings: Settings(removalGuard: nil)) { bench in
            for number in 0..<3000 { bench.put("/a/\(number)", "x") }
            bench.put("/b", "b")
            try await bench.runWell()
            bench.server.tree.remove("/a")
            try await bench.runWell()
            let before = try await bench.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try await removed(bench) == [])
            let after = try await bench.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            #expect(after - before < 10)
        }
    }
}
