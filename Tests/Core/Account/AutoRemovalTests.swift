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
    private func notices(_ bench: Bench, _ part: String) -> Int {
        bench.log.messages.filter { $0.hasPrefix("notice") && $0.contains(part) }.count
    }

    @Test("P30: a pinned item that is deleted takes its policy along with the next finished scan; others stay")
    func vanished() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2", "/c/3", "/d/4", "/e/5"] { bench.put(path, path) }
            for path in ["/a", "/b/2", "/c", "/d"] { try await bench.pin(path) }
            try await bench.runWell()
            try await bench.host.database.write { tx in
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: "false", removeWhenNone: #"path == "/nosuch""#),
                    by: .somebody)
                // Nothing says when these go, or nobody processes them.
                try tx.policies.add(
                    ItemPolicy(kind: .availableOffline, condition: #"path == "/nosuch""#), by: .somebody)
                try tx.policies.add(
                    ItemPolicy(kind: PolicyKind("k"), condition: "true", removeWhenNone: #"path == "/nosuch""#),
                    by: .somebody)
            }
            for path in ["/a", "/b/2"] { bench.server.tree.remove(path) }
            let host = try await bench.ready()
            let triggers = Mutex(0)
            host.database.setCommitObserver { summary in
                if summary.triggersPolicies { triggers.withLock { $0 += 1 } }
                host.policies.databaseChanged(summary)
            }
            let outcome = await host.runOnce()
            #expect(outcome.worst == nil)
            let left = try await bench.host.database.read { try $0.policies.all() }
            #expect(left.map { $0.path?.text ?? $0.condition } == ["/c", "/d", #"path == "/nosuch""#, "true"])
            #expect(triggers.withLock { $0 } == 1)
            #expect(notices(bench, "was removed: nothing that it was for") == 3)
            #expect(try bench.tree().contains("/c/3"))
        }
    }

    @Test("P30: a scan that failed removes no policy, whatever is missing; the one that is whole again does")
    func failedScan() async throws {
        try await Bench.running(.plain) { bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.pin("/a")
            try await bench.runWell()
            let pinned = try await bench.policies()
            bench.server.tree.remove("/a")
            let fault = bench.server.add(Fault(.status(403), method: "PROPFIND", path: "/b"))
            try await bench.runBadly()
            #expect(try await bench.item("/a/1") == nil)
            #expect(try await bench.policies() == pinned)
            bench.server.remove(fault)
            try await bench.run()
            #expect(try await bench.policies() == [])
        }
    }

    @Test("P30: a scan that is held for a person removes no policy; told to apply, the next one does")
    func heldScan() async throws {
        try await Bench.running { bench in
            for number in 0..<30 { bench.put("/box/\(number)", "\(number)") }
            bench.put("/kept/1", "one")
            for path in ["/box", "/kept"] { try await bench.pin(path) }
            try await bench.runWell()
            let pinned = try await bench.policies()
            bench.server.tree.remove("/box")
            try await bench.runBadly()
            #expect(try await bench.policies() == pinned)
            let issue = try #require(try await bench.issues().first)
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await bench.run()
            #expect(try await bench.policies().map { $0.path?.text } == ["/kept"])
        }
    }

    @Test("P30: while its plugin is switched off a policy stays, and before the first scan every pin does")
    func switchedOff() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/later")
            try await bench.pin("/a")
            try await bench.runWell()
            #expect(try await bench.policies().count == 2)
            bench.server.tree.remove("/a")
            let plugin = PluginID(shortOrFull: "available-offline")
            bench.settings = Settings(plugins: [PluginSettings(id: plugin, isEnabled: false)])
            try await bench.restart()
            try await bench.runWell()
            #expect(try await bench.policies().count == 2)
            bench.settings = Settings()
            try await bench.restart()
            try await bench.runWell()
            #expect(try await bench.policies().map { $0.path?.text } == ["/later"])
        }
    }

    @Test("P30: a policy that is added between scans is looked at after the next, though that finds nothing new")
    func addedBetween() async throws {
        try await Bench.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { bench in
            bench.put("/a/1", "one")
            try await bench.whileRunning { scan in
                await scan()
                _ = try await bench.host.database.write { tx in
                    try tx.policies.add(
                        ItemPolicy(kind: .availableOffline, condition: "false", removeWhenNone: "size > 1000"),
                        by: .somebody)
                }
                await scan()
                let left = try await bench.policies()
                #expect(left == [])
            }
        }
    }

    @Test(
        "P31: a folder that was deleted and made anew at its path keeps its policy, which is for the new one from then on"
    )
    func recreatedFolder() async throws {
        try await Bench.running { bench in
            bench.put("/a/b/1", "one")
            try await bench.pin("/a/b")
            try await bench.runWell()
            let before = try #require(try await bench.policies().first)
            bench.server.tree.remove("/a/b")
            bench.put("/a/b/2", "two")
            try await bench.runWell()
            let after = try #require(try await bench.policies().first)
            let folder = try #require(try await bench.item("/a/b"))
            #expect(after.id == before.id && after.condition == before.condition && after.path == before.path)
            #expect(before.localID != folder.localID && after.localID == folder.localID)
            #expect(after.removeWhenNone == #"!removed && localID == "\#(folder.localID)""#)
            #expect(try bench.text("/a/b/2") == "two")
            #expect(notices(bench, "something new is there") == 1)

            // The pin follows the new one, and goes with it.
            bench.server.tree.move("/a/b", to: "/c")
            try await bench.runWell()
            #expect(try await bench.policies().map { $0.path?.text } == ["/c"])
            bench.server.tree.remove("/c")
            try await bench.runWell()
            #expect(try await bench.policies() == [])
        }
    }

    @Test("P31: a pinned file that is replaced by another keeps its policy; one whose place a folder took does not")
    func recreatedFile() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2"] { bench.put(path, path) }
            for path in ["/a/1", "/a/2"] { try await bench.pin(path) }
            try await bench.runWell()
            for path in ["/a/1", "/a/2"] { bench.server.tree.remove(path) }
            bench.put("/a/1", "another")
            bench.put("/a/2/3", "three")
            try await bench.runWell()
            #expect(try await bench.policies().map { $0.path?.text } == ["/a/1"])
            let file = try #require(try await bench.item("/a/1"))
            #expect(try await bench.policies().first?.condition == #"localID == "\#(file.localID)""#)
            #expect(try bench.text("/a/1") == "another")
            #expect(!Files.exists(bench.local("/a/2/3")))
        }
    }

    @Test("P31: a folder that moved is followed, even if another was made at its old place")
    func movedAndRecreated() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            bench.server.tree.move("/a", to: "/z")
            bench.put("/a/2", "two")
            try await bench.runWell()
            #expect(try await bench.policies().map { $0.path?.text } == ["/z"])
            try await bench.runWell()
            #expect(try bench.tree().filter { !$0.hasSuffix("/") }.contains("/z/1"))
        }
    }
}
