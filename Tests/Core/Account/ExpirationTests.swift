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

    /// Runs `body` with an account whose files a person has downloaded.
    private func withDownloads(
        _ paths: [String], _ settings: Settings = settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture) async throws -> Void
    ) async throws {
        try await AccountFixture.running(settings: settings) { fixture in
            for path in paths { fixture.put(path, path) }
            try await fixture.runWell()
            for path in paths { try await fixture.download(path) }
            try await fixture.runWell()
            #expect(try fixture.tree().filter { !$0.hasSuffix("/") } == paths.sorted())
            try await body(fixture)
        }
    }

    @Test(
        "P35: copies go 7 days after their last use; what is no time means 7 days too",
        arguments: ["{}", #"{"after": "0s"}"#, #"{"after": "-3d"}"#])
    func defaults(_ json: String) async throws {
        try await withDownloads(["/a", "/b"], Self.settings(json)) { fixture in
            fixture.clock.advance(Self.day * 7 - .seconds(60))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a", "/b"])
            fixture.clock.advance(.seconds(120))
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
            #expect(try await fixture.item("/a")?.cloudStatus == .cloudOnly)
            #expect(try await fixture.item("/a")?.downloadTrigger == nil)
        }
    }

    @Test("P35: switched off, nothing ever expires")
    func disabled() async throws {
        try await withDownloads(["/a"], Self.settings(enabled: false)) { fixture in
            fixture.clock.advance(Self.day * 29)
            try await fixture.runWell()
            fixture.clock.advance(Self.day * 29)
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a"])
        }
    }

    @Test("P36: what is pinned, changed, claimed, open, mapped or has work waiting is passed over, and nothing is said")
    func scope() async throws {
        let names = ["/changed", "/claimed", "/expired", "/mapped", "/open", "/pinned"]
        try await withDownloads(names, Self.settings(#"{"after": "1d"}"#)) { fixture in
            try await fixture.pin("/pinned")
            try await fixture.runWell()
            try Files.write("changed here", to: fixture.local("/changed"))
            let claimed = try #require(try await fixture.item("/claimed"))
            try await fixture.host.database.write { tx in
                try tx.claims.add(Claim(item: claimed.localID, kind: .read, validity: .explicit))
            }
            let open = Glibc.open(fixture.local("/open"), O_RDONLY | O_CLOEXEC)
            let file = Glibc.open(fixture.local("/mapped"), O_RDONLY | O_CLOEXEC)
            let mapping = mmap(nil, 4, PROT_READ, MAP_SHARED, file, 0)
            close(file)
            defer {
                munmap(mapping, 4)
            }
            fixture.clock.advance(Self.day * 2)
            for _ in 0..<2 {
                try await fixture.runWell()
                #expect(try fixture.tree() == names.filter { $0 != "/expired" })
                // The pinned copies were not removed and fetched again.
                #expect(fixture.downloads == [])
                let records = try await fixture.records()
                #expect(records.isEmpty)
            }
            close(open)
            fixture.clock.advance(Self.day * 2)
            try await fixture.runWell()
            #expect(try fixture.tree() == names.filter { $0 != "/expired" && $0 != "/open" })
        }
    }

    @Test("P38: copies expire without a server too, unless the setting says no", arguments: [true, false])
    func offline(_ offline: Bool) async throws {
        try await withDownloads(["/a"], Self.settings(#"{"after": "1d", "offline": \#(offline)}"#)) { fixture in
            fixture.clock.advance(Self.day * 2)
            fixture.server.add(Fault(.status(503)))
            try await fixture.runBadly()
            #expect(try fixture.tree() == (offline ? [] : ["/a"]))
        }
    }

    @Test("P38, P51: not while the server may have lost what it does not list any more")
    func offlineAndHeld() async throws {
        let names = (0..<30).map { "/box/\($0)" }
        try await withDownloads(names, Self.settings(#"{"after": "1d"}"#)) { fixture in
            fixture.server.tree.remove("/box")
            try await fixture.runBadly()
            fixture.clock.advance(Self.day * 2)
            try await fixture.runBadly()
            fixture.server.add(Fault(.status(503)))
            try await fixture.runBadly()
            #expect(try fixture.tree().count == 31)
        }
    }

    @Test("a thousand expired copies go in few transactions")
    func thousand() async throws {
        let names = (0..<1000).map { "/\($0)" }
        try await withDownloads(names) { fixture in
            let before = try await fixture.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            fixture.clock.advance(Self.day * 8)
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
            let after = try await fixture.host.database.read { try $0.meta.integer(.anchor) ?? 0 }
            // The difference is one, unless this machine is so slow that removals are written before others have begun.
            #expect(after - before < 100)
        }
    }

    @Test("P40: a copy of which no last use is known goes by the file's time")
    func unknownUse() async throws {
        try await withDownloads(["/a"]) { fixture in
            fixture.server.tree.put("/b", "b", modified: fixture.clock.now.seconds)
            try await fixture.runWell()
            try await fixture.download("/b")
            try await fixture.runWell()
            try await fixture.host.database.write { tx in
                for path in ["/a", "/b"] {
                    var item = try #require(try tx.items.item(at: ItemPath(unchecked: path)))
                    item.lastUsed = nil
                    try tx.items.updateLocal(item)
                }
            }
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/b"])
        }
    }

    @Test("P55: while the clock is not believed, no more goes for want of room than must")
    func quotaWithoutClock() async throws {
        let settings = Self.settings(#"{"keep-below": "3000B"}"#)
        try await AccountFixture.running(settings: settings) { fixture in
            for number in 0..<6 { fixture.put("/\(number)", String(repeating: "x", count: 1000)) }
            try await fixture.runWell()
            fixture.clock.advance(Self.day * 40)
            for number in 0..<6 { try await fixture.download("/\(number)") }
            for _ in 0..<3 { try await fixture.runWell() }
            let left = try fixture.tree()
            #expect(left.count == 3)
            fixture.clock.advance(.zero - Self.day * 39)
            try await fixture.runWell()
            #expect(try fixture.tree() == left)
        }
    }

    @Test(
        "Quota: beyond keep-below the least recently used copies go, as many as must, and what is used or pinned stays")
    func quota() async throws {
        try await AccountFixture.running(settings: Self.settings(#"{"keep-below": "3000B"}"#)) { fixture in
            let text = String(repeating: "x", count: 1000)
            for number in 0..<6 { fixture.put("/\(number)", text) }
            fixture.put("/pinned", text)
            try await fixture.pin("/pinned")
            try await fixture.runWell()
            for number in [0, 1, 2, 3, 4, 5] {
                fixture.clock.advance(.seconds(10))
                try await fixture.download("/\(number)")
                let host = fixture.host
                _ = try await host.engine.drain(with: host.partners)
            }
            let claimed = try #require(try await fixture.item("/1"))
            try await fixture.host.database.write { tx in
                try tx.claims.add(Claim(item: claimed.localID, kind: .read, validity: .explicit))
            }
            let open = Glibc.open(fixture.local("/0"), O_RDONLY | O_CLOEXEC)
            try await fixture.runWell()
            try await fixture.runWell()
            // Seven thousand bytes are here, and three thousand are allowed. Of the four oldest copies one is claimed
            // and one is open.
            let tree = try fixture.tree()
            #expect(tree == ["/0", "/1", "/pinned"])
            close(open)
        }
    }

    @Test("Quota: what was asked for counts as gone, also after a kill before it was carried out")
    func quotaAfterKill() async throws {
        try await AccountFixture.running(settings: Self.settings(#"{"keep-below": "3000B"}"#)) { fixture in
            for number in 0..<6 { fixture.put("/\(number)", String(repeating: "x", count: 1000)) }
            try await fixture.runWell()
            for number in 0..<6 { try await fixture.download("/\(number)") }
            let fetching = fixture.host
            _ = try await fetching.engine.drain(with: fetching.partners)
            for _ in 0..<2 {
                let host = try await fixture.ready()
                let policies = Task { await host.policies.run() }
                host.policies.fire(.itemListUpdateCompletedWithoutChanges)
                await host.policies.waitUntilIdle()
                policies.cancel()
                await policies.value
                #expect(try await fixture.records().count == 3)
            }
            try await fixture.runWell()
            #expect(try fixture.tree().count == 3)
        }
    }
}
