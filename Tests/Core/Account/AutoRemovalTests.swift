import Database
import DemoServer
import ItemList
import ItemPolicies
import LocalTree
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Policies whose target is gone, end to end")
struct AutoRemovalTests {
    private func notices(_ fixture: AccountFixture, _ part: String) -> Int {
        fixture.log.messages.filter { $0.hasPrefix("notice") && $0.contains(part) }.count
    }

    @Test("P30: a pinned item that is deleted takes its policy along with the next finished scan; others stay")
    func vanished() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2", "/c/3", "/d/4", "/e/5"] { fixture.put(path, path) }
            for path in ["/a", "/b/2", "/c", "/d"] { try await fixture.pin(path) }
            try await fixture.runWell()
            try await fixture.host.database.write { tx in
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: "false", removeWhenNone: #"path == "/nosuch""#),
                    by: .somebody)
                // The first of these policies has no condition for its removal, the second has no processor.
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: #"path == "/nosuch""#), by: .somebody)
                try tx.policies.add(
                    ItemPolicy(kind: PolicyKind("k"), condition: "true", removeWhenNone: #"path == "/nosuch""#),
                    by: .somebody)
            }
            for path in ["/a", "/b/2"] { fixture.server.tree.remove(path) }
            let host = try await fixture.ready()
            let triggers = Mutex(0)
            host.database.setCommitObserver { summary in
                if summary.triggersPolicies { triggers.withLock { $0 += 1 } }
                host.policies.databaseChanged(summary)
            }
            let outcome = await host.runOnce()
            #expect(outcome.worst == nil)
            let left = try await fixture.host.database.read { try $0.policies.all() }
            #expect(left.map { $0.path?.text ?? $0.condition } == ["/c", "/d", #"path == "/nosuch""#, "true"])
            #expect(triggers.withLock { $0 } == 1)
            #expect(notices(fixture, "was removed, because the server no longer has any item") == 3)
            #expect(try fixture.tree().contains("/c/3"))
        }
    }

    @Test("P30: a scan that failed removes no policy, whatever is missing; the one that is whole again does")
    func failedScan() async throws {
        try await AccountFixture.running(.plain) { fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.pin("/a")
            try await fixture.runWell()
            let pinned = try await fixture.policies()
            fixture.server.tree.remove("/a")
            let fault = fixture.server.add(Fault(.status(403), method: "PROPFIND", path: "/b"))
            try await fixture.runBadly()
            #expect(try await fixture.item("/a/1") == nil)
            #expect(try await fixture.policies() == pinned)
            fixture.server.remove(fault)
            try await fixture.run()
            #expect(try await fixture.policies() == [])
        }
    }

    @Test("P30: a scan that is held for a person removes no policy; told to apply, the next one does")
    func heldScan() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<30 { fixture.put("/box/\(number)", "\(number)") }
            fixture.put("/kept/1", "one")
            for path in ["/box", "/kept"] { try await fixture.pin(path) }
            try await fixture.runWell()
            let pinned = try await fixture.policies()
            fixture.server.tree.remove("/box")
            try await fixture.runBadly()
            #expect(try await fixture.policies() == pinned)
            let issue = try #require(try await fixture.issues().first)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await fixture.run()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/kept"])
        }
    }

    @Test("P30: while its plugin is switched off a policy stays, and before the first scan every pin does")
    func switchedOff() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/later")
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(try await fixture.policies().count == 2)
            fixture.server.tree.remove("/a")
            let plugin = PluginID(shortOrFull: "available-offline")
            fixture.settings = Settings(plugins: [PluginSettings(id: plugin, isEnabled: false)])
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try await fixture.policies().count == 2)
            fixture.settings = Settings()
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/later"])
        }
    }

    @Test("P30: a policy that is added between scans is looked at after the next, though that finds nothing new")
    func addedBetween() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.whileRunning { scan in
                await scan()
                _ = try await fixture.host.database.write { tx in
                    try tx.policies.add(
                        ItemPolicy(kind: .availableOffline, condition: "false", removeWhenNone: "size > 1000"),
                        by: .somebody)
                }
                await scan()
                let left = try await fixture.policies()
                #expect(left == [])
            }
        }
    }

    @Test(
        "P31: a folder that was deleted and made anew at its path keeps its policy, which is for the new one from then on"
    )
    func recreatedFolder() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/b/1", "one")
            try await fixture.pin("/a/b")
            try await fixture.runWell()
            let before = try #require(try await fixture.policies().first)
            fixture.server.tree.remove("/a/b")
            fixture.put("/a/b/2", "two")
            try await fixture.runWell()
            let after = try #require(try await fixture.policies().first)
            let folder = try #require(try await fixture.item("/a/b"))
            #expect(after.id == before.id && after.condition == before.condition && after.path == before.path)
            #expect(before.localID != folder.localID && after.localID == folder.localID)
            #expect(after.removeWhenNone == #"!removed && localID == "\#(folder.localID)""#)
            #expect(try fixture.text("/a/b/2") == "two")
            #expect(notices(fixture, "a new item is at the same path") == 1)

            // The pin follows the new folder, and is removed with it.
            fixture.server.tree.move("/a/b", to: "/c")
            try await fixture.runWell()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/c"])
            fixture.server.tree.remove("/c")
            try await fixture.runWell()
            #expect(try await fixture.policies() == [])
        }
    }

    @Test("P31: a pinned file that is replaced by another keeps its policy; one whose place a folder took does not")
    func recreatedFile() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2"] { fixture.put(path, path) }
            for path in ["/a/1", "/a/2"] { try await fixture.pin(path) }
            try await fixture.runWell()
            for path in ["/a/1", "/a/2"] { fixture.server.tree.remove(path) }
            fixture.put("/a/1", "another")
            fixture.put("/a/2/3", "three")
            try await fixture.runWell()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/a/1"])
            let file = try #require(try await fixture.item("/a/1"))
            #expect(try await fixture.policies().first?.condition == #"localID == "\#(file.localID)""#)
            #expect(try fixture.text("/a/1") == "another")
            #expect(!Files.exists(fixture.local("/a/2/3")))
        }
    }

    @Test("P31: a folder that moved is followed, even if another was made at its old place")
    func movedAndRecreated() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.server.tree.move("/a", to: "/z")
            fixture.put("/a/2", "two")
            try await fixture.runWell()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/z"])
            try await fixture.runWell()
            #expect(try fixture.tree().filter { !$0.hasSuffix("/") }.contains("/z/1"))
        }
    }
}
