import Database
import DemoServer
import LocalTree
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("Scans, end to end")
struct ScanTests {
    @Test("I1, I2: unchanged it is one PROPFIND; otherwise each folder whose ETag changed is listed, and no other")
    func descent() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/a/c/2", "/d/3"] { fixture.put(path, path) }
            try await fixture.runWell()
            try await fixture.runWell()
            #expect(fixture.listings == ["/"])
            fixture.put("/a/b/4", "four")
            try await fixture.runWell()
            #expect(fixture.listings.first == "/")
            #expect(fixture.listings.dropFirst().sorted() == ["/", "/a", "/a/b"])
        }
    }

    @Test(
        "I3: ETags that stop telling are found out by the next whole walk, and the status says so until they are believed"
    )
    func propagationStops() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/c/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.server.behave { $0.propagation = .none }
            fixture.put("/a/b/1", "changed")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong == false)
            fixture.clock.advance(.seconds(24 * 3600))
            try await fixture.runWell()
            #expect(try fixture.text("/a/b/1") == "changed")
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong)
            fixture.put("/a/b/1", "changed again")
            try await fixture.runWell()
            #expect(fixture.listings.sorted() == ["/", "/a", "/a/b", "/c"])
            #expect(try fixture.text("/a/b/1") == "changed again")
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong)
            // They tell of changes again, for seven days.
            fixture.server.behave { $0.propagation = .toRoot }
            for day in 1...7 {
                #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong)
                fixture.clock.advance(.seconds(24 * 3600))
                fixture.put("/a/b/1", "changed on day \(day)")
                try await fixture.runWell()
            }
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong == false)
            try await fixture.runWell()
            #expect(fixture.listings == ["/"])
        }
    }

    @Test(
        "I3, I18: what this account was about to change, and what was passed over for it, is no evidence about ETags",
        arguments: ["delete", "put", "move"])
    func ownWork(_ kind: String) async throws {
        try await AccountFixture.running { fixture in
            for path in ["/c/k", "/c/d/l"] { fixture.put(path, "k") }
            try await fixture.runWell()
            fixture.host.engine.setOnline(false)
            let (k, f) = (ItemPath(unchecked: "/c/k"), ItemPath(unchecked: "/c/d/f"))
            let change: ChangeRequest
            switch kind {
            case "delete": change = .delete(k)
            case "move": change = .move(k, to: f)
            default:
                try Files.write("mine", to: fixture.bookmark.vault + "/mine", mode: 0o600)
                let outgoing = fixture.bookmark.vault + "/outgoing"
                let snapshot = try TakenSnapshot.take(of: fixture.bookmark.vault + "/mine", into: outgoing).0
                change = .put(snapshot, f, replaces: false)
            }
            _ = try await fixture.host.database.write { [engine = fixture.host.engine] tx in
                try engine.enqueue(.change(change), in: tx)
            }
            // Somebody else changes what the record is about.
            fixture.put("/c/k", "theirs")
            fixture.put("/c/d/f", "theirs")
            if kind == "move" { fixture.server.tree.move("/c/k", to: "/c/moved") }
            for _ in 1...2 { try await fixture.run() }
            for issue in try await fixture.issues() {
                #expect(try await fixture.host.engine.resolve(issue.id, choice: "cancel"))
            }
            fixture.clock.advance(.seconds(24 * 3600))
            try await fixture.runWell()
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong == false)
            #expect(try await fixture.item("/c/d/f") != nil)
            #expect(try await fixture.item(kind == "move" ? "/c/moved" : "/c/k") != nil)
        }
    }

    @Test("I3: where folder ETags never told of all changes, one that does not is no news in the status")
    func plainServersETags() async throws {
        var manner = Manner.plain
        manner.propagation = .none
        try await AccountFixture.running(manner) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            fixture.put("/a/1", "two")
            try await fixture.runWell()
            #expect(try await fixture.reader { try await $0.status() }.etagsWereWrong == false)
            #expect(!fixture.log.messages.contains { $0.contains("ETags") })
        }
    }

    @Test("a walk over everything asks for each folder once, the root among them")
    func oneRequestEach() async throws {
        try await AccountFixture.running(.plain) { fixture in
            for path in ["/a/b/1", "/c/2"] { fixture.put(path, path) }
            for index in 0..<600 { fixture.put("/f\(index)", "x") }
            try await fixture.runWell()
            fixture.put("/c/3", "three")
            try await fixture.runWell()
            #expect(fixture.listings.sorted() == ["/", "/a", "/a/b", "/c"])
            #expect(try await fixture.item("/c/3") != nil)
            // The root's listing ends badly, either while the host connects to the server or afterwards. The host then
            // lists the root again.
            fixture.put("/f600", "x")
            let fault = fixture.server.add(Fault(.cutOff(afterBytes: 300_000), method: "PROPFIND", path: "/", times: 1))
            try await fixture.runWell()
            fixture.server.remove(fault)
            #expect(Set(fixture.listings) == ["/", "/a", "/a/b", "/c"])
            #expect(try await fixture.item("/f600") != nil)
        }
    }

    @Test("folders are listed four at a time as long as no answer tells that more of them help")
    func several() async throws {
        try await AccountFixture.running(.plain) { fixture in
            for index in 0..<20 { fixture.put("/d/\(index)/f", "x") }
            try await fixture.runWell()
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/d", below: true, from: 2))
            let host = try await fixture.ready()
            async let run = host.runOnce()
            await fixture.server.untilHeld(hold, count: 4)
            fixture.server.remove(hold)
            _ = await run
            #expect(Set(fixture.listings).count == 22)
        }
    }

    @Test("I12: a scan that was cut off goes on with the folders that are left")
    func resumed() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2", "/c/3"] { fixture.put(path, path) }
            try await fixture.runWell()
            for path in ["/a/4", "/b/5"] { fixture.put(path, path) }
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
            let host = try await fixture.ready()
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(hold)
            try await until { try await fixture.item("/a/4") != nil }
            run.cancel()
            _ = await run.value
            fixture.server.remove(hold)
            try await fixture.restart()
            try await fixture.runWell()
            #expect(fixture.listings == ["/", "/b"])
            #expect(try await fixture.item("/b/5") != nil)
        }
    }

    @Test("I12: a first scan that was cut off goes on where ETags tell of changes, and finds what happened meanwhile")
    func firstResumed() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2", "/b/3", "/c/d/e/4", "/f/5"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.cutOff(listing: "/b", "/c/d", until: ["/a/1", "/f/5"])
            fixture.server.tree.remove("/a/2")
            fixture.server.tree.move("/c", to: "/g")
            fixture.put("/a/6", "/a/6")
            try await fixture.restart()
            try await fixture.runWell()
            // A folder that is not where it was listed makes the scan list the folders above it, up to the first that
            // exists.
            #expect(Set(fixture.listings) == ["/", "/a", "/b", "/c", "/c/d", "/g", "/g/d", "/g/d/e"])
            // The file may have been fetched before its removal. It then stays for a while.
            let tree = try fixture.tree().filter { $0 != "/a/2" }
            #expect(
                tree == [
                    "/a/", "/a/1", "/a/6", "/b/", "/b/3", "/f/", "/f/5", "/g/", "/g/d/", "/g/d/e/", "/g/d/e/4",
                ], "\(fixture.log.messages)")
            #expect(try await fixture.item("/a/2") == nil)
            // With this everything has been walked, though the root is still to be listed once more.
            try await fixture.runWell()
            #expect(Set(fixture.listings) == ["/"])
            fixture.clock.advance(.seconds(24 * 3600))
            try await fixture.runWell()
            #expect(Set(fixture.listings) == ["/", "/a", "/b", "/f", "/g", "/g/d", "/g/d/e"])
        }
    }

    @Test("I12: cut off again and again, a first scan lists what is left; after a day it begins anew")
    func firstResumedOften() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2", "/c/3"] { fixture.put(path, path) }
            try await fixture.cutOff(listing: "/b", "/c", until: ["/a/1"])
            try await fixture.restart()
            try await fixture.cutOff(listing: "/c", until: ["/b/2"])
            #expect(Set(fixture.listings).isSubset(of: ["/", "/b", "/c"]))
            try await fixture.restart()
            fixture.clock.advance(.seconds(24 * 3600))
            // The scan is cut off before it has listed anything. The first PROPFIND only asks whether the server is
            // there.
            try await fixture.cutOff(at: [Fault(.hold(), method: "PROPFIND", path: "/", from: 2)], until: [])
            try await fixture.restart()
            try await fixture.runWell()
            #expect(Set(fixture.listings) == ["/", "/a", "/b", "/c"])
            #expect(try await fixture.item("/c/3") != nil)
        }
    }

    @Test("I12, I15: where ETags do not tell of changes, a first scan that was cut off goes on with what is left")
    func plainFirstScan() async throws {
        try await AccountFixture.running(.plain) { fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.cutOff(listing: "/b", until: ["/a/1"])
            fixture.put("/a/3", "new")
            try await fixture.restart()
            try await fixture.runWell()
            #expect(Set(fixture.listings) == ["/", "/b"])
            #expect(try await fixture.item("/b/2") != nil)
            try await fixture.runWell()
            #expect(try await fixture.item("/a/3") != nil)
        }
    }

    @Test(
        "I13, P12: no answer that is wrong removes anything, nor does a scan with one count as finished",
        arguments: [
            Fault.Kind.status(500), .status(403), .page, .truncatedListing, .emptyListing, .cutOff(afterBytes: 300),
        ])
    func wrongAnswers(_ kind: Fault.Kind) async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/b/2", "/c/3"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            let tree = try fixture.tree()
            for path in ["/", "/a"] {
                fixture.put("/a/new", "for \(path)")
                let fault = fixture.server.add(Fault(kind, method: "PROPFIND", path: path))
                try await fixture.runBadly()
                #expect(try fixture.tree().filter { $0 != "/a/new" } == tree, "\(path)")
                for path in ["/a/1", "/a/b/2", "/c/3"] {
                    #expect(try await fixture.item(path)?.cloudStatus == .localCopy, "\(path)")
                }
                fixture.server.remove(fault)
                try await fixture.runWell()
                #expect(try fixture.text("/a/new") == "for \(path)")
            }
        }
    }
}

extension AccountFixture {
    /// Makes a run that is cut off when it has found these items and waits for the listings of these folders.
    fileprivate func cutOff(listing folders: String..., until known: [String]) async throws {
        try await cutOff(at: folders.map { Fault(.hold(), method: "PROPFIND", path: $0) }, until: known)
    }

    fileprivate func cutOff(at faults: [Fault], until known: [String]) async throws {
        let holds = faults.map { server.add($0) }
        let host = try await ready()
        let run = Task { await host.runOnce() }
        for hold in holds { await server.untilHeld(hold) }
        for path in known { try await until { try await item(path) != nil } }
        run.cancel()
        _ = await run.value
        for hold in holds { server.remove(hold) }
    }
}
