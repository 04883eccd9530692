import Database
import DemoServer
import Glibc
import ItemList
import ItemPolicies
import LocalTree
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("Download expiration, end to end")
struct ExpirationTests {
    private static let day = Duration.seconds(86_400)

    private static func settings(_ json: String = "{}", enabled: Bool = true) -> Settings {
        Settings(plugins: [
            PluginSettings(id: PluginID(shortOrFull: "download-expiration"), isEnabled: enabled, json: json)
        ])
    }

    /// Files that a person has downloaded.
    private func withDownloads(
        _ paths: [String], _ settings: Settings = settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.running(settings: settings) { bench in
            for path in paths { bench.put(path, path) }
            try await bench.runWell()
            for path in paths { try await bench.download(path) }
            try await bench.runWell()
            #expect(try bench.tree().filter { !$0.hasSuffix("/") } == paths.sorted())
            try await body(bench)
        }
    }

    @Test(
        "P35: copies go 7 days after their last use; what is no time means 7 days too",
        arguments: ["{}", #"{"after": "0s"}"#, #"{"after": "-3d"}"#])
    func defaults(_ json: String) async throws {
        try await withDownloads(["/a", "/b"], Self.settings(json)) { bench in
            bench.clock.advance(Self.day * 7 - .seconds(60))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a", "/b"])
            bench.clock.advance(.seconds(120))
            try await bench.runWell()
            #expect(try bench.tree() == [])
            #expect(try await bench.item("/a")?.cloudStatus == .cloudOnly)
            #expect(try await bench.item("/a")?.downloadTrigger == nil)
        }
    }

    @Test("P35: switched off, nothing ever expires")
    func disabled() async throws {
        try await withDownloads(["/a"], Self.settings(enabled: false)) { bench in
            bench.clock.advance(Self.day * 29)
            try await bench.runWell()
            bench.clock.advance(Self.day * 29)
            try await bench.runWell()
            #expect(try bench.tree() == ["/a"])
        }
    }

    @Test("P36: what is pinned, changed, claimed, open, mapped or has work waiting is passed over, and nothing is said")
    func scope() async throws {
        let names = ["/changed", "/claimed", "/expired", "/mapped", "/open", "/pinned"]
        try await withDownloads(names, Self.settings(#"{"after": "1d"}"#)) { bench in
            try await bench.pin("/pinned")
            try await bench.runWell()
            try Files.write("changed here", to: bench.local("/changed"))
            let claimed = try #require(try await bench.item("/claimed"))
            try await bench.host.database.write { tx in
                try tx.claims.add(Claim(item: claimed.localID, kind: .read, validity: .explicit))
            }
            let open = Glibc.open(bench.local("/open"), O_RDONLY | O_CLOEXEC)
            let file = Glibc.open(bench.local("/mapped"), O_RDONLY | O_CLOEXEC)
            let mapping = mmap(nil, 4, PROT_READ, MAP_SHARED, file, 0)
            closeForAll(file)
            defer {
                munmap(mapping, 4)
            }
            bench.clock.advance(Self.day * 2)
            for _ in 0..<2 {
                try await bench.runWell()
                #expect(try bench.tree() == names.filter { $0 != "/expired" })
                // What is pinned did not go and come again.
                #expect(bench.downloads == [])
                let records = try await bench.records()
                #expect(records.isEmpty)
            }
            closeForAll(open)
            bench.clock.advance(Self.day * 2)
            try await bench.runWell()
            #expect(try bench.tree() == names.filter { $0 != "/expired" && $0 != "/open" })
        }
    }

    @Test("P38: copies expire without a server too, unless the setting says no", arguments: [true, false])
    func offline(_ offline: Bool) async throws {
        try await withDownloads(["/a"], Self.settings(#"{"after": "1d", "offline": \#(offline)}"#)) { bench in
            bench.clock.advance(Self.day * 2)
            bench.server.add(Fault(.status(503)))
            try await bench.runBadly()
            #expect(try bench.tree() == (offline ? [] : ["/a"]))
        }
    }

    @Test("P38, P51: not while the server may have lost what it does not list any more")
    func offlineAndHeld() async throws {
        let names = (0..<30).map { "/box/\($0)" }
        try await withDownloads(names, Self.settings(#"{"after": "1d"}"#)) { bench in
            bench.server.tree.remove("/box")
            try await bench.runBadly()
            bench.clock.advance(Self.day * 2)
            try await bench.runBadly()
            bench.server.add(Fault(.status(503)))
            try await bench.runBadly()
            #expect(try bench.tree().count == 31)
        }
    }

    @Test("a thousand expired copies go in few transactions")
    func thousand() async throws {
        let names = (0..<1000).map { "/\($0)" }
        try await withDownloads(names) { bench in
            let before = try await bench.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            bench.clock.advance(Self.day * 8)
            try await bench.runWell()
            #expect(try bench.tree() == [])
            let after = try await bench.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            // One, unless this machine is very slow.
            #expect(after - before < 10)
        }
    }

    @Test("P40: a copy of which no last use is known goes by the file's time")
    func unknownUse() async throws {
        try await withDownloads(["/a"]) { bench in
            bench.server.tree.put("/b", "b", modified: bench.clock.now.seconds)
            try await bench.runWell()
            try await bench.download("/b")
            try await bench.runWell()
            try await bench.host.database.write { tx in
                for path in ["/a", "/b"] {
                    var item = try #require(try tx.items.item(at: ItemPath(unchecked: path)))
                    item.lastUsed = nil
                    try tx.items.updateLocal(item)
                }
            }
            try await bench.runWell()
            #expect(try bench.tree() == ["/b"])
        }
    }

    @Test("P55: while the clock is not believed, no more goes for want of room than must")
    func quotaWithoutClock() async throws {
        let settings = Self.settings(#"{"keep-below": "3000B"}"#)
        try await Bench.running(settings: settings) { bench in
            for number in 0..<6 { bench.put("/\(number)", String(repeating: "x", count: 1000)) }
            try await bench.runWell()
            bench.clock.advance(Self.day * 40)
            for number in 0..<6 { try await bench.download("/\(number)") }
            for _ in 0..<3 { try await bench.runWell() }
            #expect(try bench.tree().count == 3)
            bench.clock.advance(.zero - Self.day * 39)
            try await bench.runWell()
            #expect(try bench.tree().count == 3)
        }
    }

    @Test(
        "Quota: beyond keep-below the least recently used copies go, as many as must, and what is used or pinned stays")
    func quota() async throws {
        try await Bench.running(settings: Self.settings(#"{"keep-below": "3000B"}"#)) { bench in
            let text = String(repeating: "x", count: 1000)
            for number in 0..<6 { bench.put("/\(number)", text) }
            bench.put("/pinned", text)
            try await bench.pin("/pinned")
            try await bench.runWell()
            for number in [0, 1, 2, 3, 4, 5] {
                bench.clock.advance(.seconds(10))
                try await bench.download("/\(number)")
                let host = bench.host
                _ = try await host.engine.drain(with: host.partners)
            }
            let claimed = try #require(try await bench.item("/1"))
            try await bench.host.database.write { tx in
                try tx.claims.add(Claim(item: claimed.localID, kind: .read, validity: .explicit))
            }
            let open = Glibc.open(bench.local("/0"), O_RDONLY | O_CLOEXEC)
            try await bench.runWell()
            try await bench.runWell()
            // Seven thousand bytes are here, and three thousand may be: of the four oldest one is claimed and one is open.
            let tree = try bench.tree()
            #expect(tree == ["/0", "/1", "/pinned"])
            closeForAll(open)
        }
    }

    @Test("Quota: what was asked for counts as gone, also after a kill before it was carried out")
    func quotaAfterKill() async throws {
        try await Bench.running(settings: Self.settings(#"{"keep-below": "3000B"}"#)) { bench in
            for number in 0..<6 { bench.put("/\(number)", String(repeating: "x", count: 1000)) }
            try await bench.runWell()
            for number in 0..<6 { try await bench.download("/\(number)") }
            let fetching = bench.host
            _ = try await fetching.engine.drain(with: fetching.partners)
            for _ in 0..<2 {
                let host = try await bench.ready()
                let policies = Task { await host.policies.run() }
                host.policies.fire(.itemListUpdateCompletedWithoutChanges)
                await host.policies.waitUntilIdle()
                policies.cancel()
                await policies.value
                #expect(try await bench.records().count == 3)
            }
            try await bench.runWell()
            #expect(try bench.tree().count == 3)
        }
    }
}
