import Core
import DemoServer
import Model
import TestServer
import TestSupport
import Testing

@Suite("Scans, end to end")
struct ScanTests {
    @Test("I1, I2: unchanged it is one PROPFIND; otherwise each folder whose ETag changed is listed, and no other")
    func descent() async throws {
        try await Bench.running { bench in
            for path in ["/a/b/1", "/a/c/2", "/d/3"] { bench.put(path, path) }
            try await bench.runWell()
            try await bench.runWell()
            #expect(bench.listings == ["/"])
            bench.put("/a/b/4", "four")
            try await bench.runWell()
            #expect(bench.listings.first == "/")
            #expect(bench.listings.dropFirst().sorted() == ["/", "/a", "/a/b"])
        }
    }

    @Test(
        "I3: ETags that stop telling are found out by the next whole walk, never believed again, and the status says so"
    )
    func propagationStops() async throws {
        try await Bench.running { bench in
            for path in ["/a/b/1", "/c/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.server.behave { $0.propagation = .none }
            bench.put("/a/b/1", "changed")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try await bench.reader { try await $0.status() }.etagsWereWrong == false)
            bench.clock.advance(.seconds(24 * 3600))
            try await bench.runWell()
            #expect(try bench.text("/a/b/1") == "changed")
            #expect(try await bench.reader { try await $0.status() }.etagsWereWrong)
            bench.put("/a/b/1", "changed again")
            try await bench.runWell()
            #expect(bench.listings.sorted() == ["/", "/a", "/a/b", "/c"])
            #expect(try bench.text("/a/b/1") == "changed again")
            #expect(try await bench.reader { try await $0.status() }.etagsWereWrong)
        }
    }

    @Test("I3: where folder ETags never told of all changes, one that does not is no news in the status")
    func plainServersETags() async throws {
        var manner = Manner.plain
        manner.propagation = .none
        try await Bench.running(manner) { bench in
            bench.put("/a/1", "one")
            try await bench.runWell()
            bench.put("/a/1", "two")
            try await bench.runWell()
            #expect(try await bench.reader { try await $0.status() }.etagsWereWrong == false)
            #expect(!bench.log.messages.contains { $0.contains("ETags") })
        }
    }

    @Test("a walk over everything asks for each folder once, the root among them")
    func oneRequestEach() async throws {
        try await Bench.running(.plain) { bench in
            for path in ["/a/b/1", "/c/2"] { bench.put(path, path) }
            for index in 0..<600 { bench.put("/f\(index)", "x") }
            try await bench.runWell()
            bench.put("/c/3", "three")
            try await bench.runWell()
            #expect(bench.listings.sorted() == ["/", "/a", "/a/b", "/c"])
            #expect(try await bench.item("/c/3") != nil)
            // The root's listing ends badly, while the server is connected to or afterwards: it is asked for again.
            bench.put("/f600", "x")
            let fault = bench.server.add(Fault(.cutOff(afterBytes: 300_000), method: "PROPFIND", path: "/", times: 1))
            try await bench.runWell()
            bench.server.remove(fault)
            #expect(Set(bench.listings) == ["/", "/a", "/a/b", "/c"])
            #expect(try await bench.item("/f600") != nil)
        }
    }

    @Test("folders are listed eight at a time, as many as connections are allowed")
    func several() async throws {
        try await Bench.running(.plain) { bench in
            for index in 0..<20 { bench.put("/d/\(index)/f", "x") }
            try await bench.runWell()
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/d", below: true, from: 2))
            let host = try await bench.ready()
            async let run = host.runOnce()
            await bench.server.untilHeld(hold, count: 8)
            bench.server.remove(hold)
            _ = await run
            #expect(Set(bench.listings).count == 22)
        }
    }

    @Test("I12: a scan that was cut off goes on with the folders that are left")
    func resumed() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2", "/c/3"] { bench.put(path, path) }
            try await bench.runWell()
            for path in ["/a/4", "/b/5"] { bench.put(path, path) }
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
            let host = try await bench.ready()
            let run = Task { await host.runOnce() }
            await bench.server.untilHeld(hold)
            while try await bench.item("/a/4") == nil { await Task.yield() }
            run.cancel()
            _ = await run.value
            bench.server.remove(hold)
            try await bench.restart()
            try await bench.runWell()
            #expect(bench.listings == ["/", "/b"])
            #expect(try await bench.item("/b/5") != nil)
        }
    }

    @Test("I12: a first scan that was cut off goes on where ETags tell of changes, and finds what happened meanwhile")
    func firstResumed() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2", "/b/3", "/c/d/e/4", "/f/5"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.cutOff(listing: "/b", "/c/d", until: ["/a/1", "/f/5"])
            bench.server.tree.remove("/a/2")
            bench.server.tree.move("/c", to: "/g")
            bench.put("/a/6", "/a/6")
            try await bench.restart()
            try await bench.runWell()
            // What is not where it was listed is asked for above, up to what is there.
            #expect(Set(bench.listings) == ["/", "/a", "/b", "/c", "/c/d", "/g", "/g/d", "/g/d/e"])
            // It may have been fetched before it was removed; then it stays for a while.
            let tree = try bench.tree().filter { $0 != "/a/2" }
            #expect(
                tree == [
                    "/a/", "/a/1", "/a/6", "/b/", "/b/3", "/f/", "/f/5", "/g/", "/g/d/", "/g/d/e/", "/g/d/e/4",
                ], "\(bench.log.messages)")
            #expect(try await bench.item("/a/2") == nil)
            // With that everything was walked, though the root is to be listed once more.
            try await bench.runWell()
            #expect(Set(bench.listings) == ["/"])
            bench.clock.advance(.seconds(24 * 3600))
            try await bench.runWell()
            #expect(Set(bench.listings) == ["/", "/a", "/b", "/f", "/g", "/g/d", "/g/d/e"])
        }
    }

    @Test("I12: cut off again and again, a first scan lists what is left; after a day it begins anew")
    func firstResumedOften() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2", "/c/3"] { bench.put(path, path) }
            try await bench.cutOff(listing: "/b", "/c", until: ["/a/1"])
            try await bench.restart()
            try await bench.cutOff(listing: "/c", until: ["/b/2"])
            #expect(Set(bench.listings).isSubset(of: ["/", "/b", "/c"]))
            try await bench.restart()
            bench.clock.advance(.seconds(24 * 3600))
            // Cut off before it has listed anything: the first is asking whether the server is there.
            try await bench.cutOff(at: [Fault(.hold(), method: "PROPFIND", path: "/", from: 2)], until: [])
            try await bench.restart()
            try await bench.runWell()
            #expect(Set(bench.listings) == ["/", "/a", "/b", "/c"])
            #expect(try await bench.item("/c/3") != nil)
        }
    }

    @Test("I12, I15: where ETags do not tell of changes, a first scan that was cut off goes on with what is left")
    func plainFirstScan() async throws {
        try await Bench.running(.plain) { bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.cutOff(listing: "/b", until: ["/a/1"])
            bench.put("/a/3", "new")
            try await bench.restart()
            try await bench.runWell()
            #expect(Set(bench.listings) == ["/", "/b"])
            #expect(try await bench.item("/b/2") != nil)
            try await bench.runWell()
            #expect(try await bench.item("/a/3") != nil)
        }
    }

    @Test(
        "I13, P12: no answer that is wrong removes anything, nor does a scan with one count as finished",
        arguments: [
            Fault.Kind.status(500), .status(403), .page, .truncatedListing, .emptyListing, .cutOff(afterBytes: 300),
        ])
    func wrongAnswers(_ kind: Fault.Kind) async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/b/2", "/c/3"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            let tree = try bench.tree()
            for path in ["/", "/a"] {
                bench.put("/a/new", "for \(path)")
                let fault = bench.server.add(Fault(kind, method: "PROPFIND", path: path))
                try await bench.runBadly()
                #expect(try bench.tree().filter { $0 != "/a/new" } == tree, "\(path)")
                for path in ["/a/1", "/a/b/2", "/c/3"] {
                    #expect(try await bench.item(path)?.cloudStatus == .localCopy, "\(path)")
                }
                bench.server.remove(fault)
                try await bench.runWell()
                #expect(try bench.text("/a/new") == "for \(path)")
            }
        }
    }
}

extension Bench {
    /// A run that is cut off when it has found these items and waits for the listings of these folders.
    fileprivate func cutOff(listing folders: String..., until known: [String]) async throws {
        try await cutOff(at: folders.map { Fault(.hold(), method: "PROPFIND", path: $0) }, until: known)
    }

    fileprivate func cutOff(at faults: [Fault], until known: [String]) async throws {
        let holds = faults.map { server.add($0) }
        let host = try await ready()
        let run = Task { await host.runOnce() }
        for hold in holds { await server.untilHeld(hold) }
        for path in known { while try await item(path) == nil { await Task.yield() } }
        run.cancel()
        _ = await run.value
        for hold in holds { server.remove(hold) }
    }
}
