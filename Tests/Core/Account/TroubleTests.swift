import Core
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@Suite("Downloads that go wrong, end to end")
struct TroubleTests {
    @Test(
        "S14: bytes that are not the file's are never put in place; tried again they come right, else it is an issue",
        arguments: [Fault.Kind.wrongChecksum, .wrongLength(by: 7), .wrongLength(by: -2), .cutOff(afterBytes: 0)])
    func integrity(_ kind: Fault.Kind) async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "content")
            bench.put("/a/2", "other content")
            bench.server.add(Fault(kind, method: "GET", path: "/a/1", times: 1))
            try await bench.pin("/a")
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "content")

            bench.put("/a/1", "another content")
            bench.server.add(Fault(kind, method: "GET", path: "/a/1"))
            let outcome = try await bench.runBadly()
            #expect(outcome.leftCount == 1)
            #expect(try bench.text("/a/1") == "content")
            #expect(try Files.names(in: bench.bookmark.vault + "/incoming").count <= 1)
        }
    }

    @Test("S16: a file that changes between its listing and its reading comes in its new version")
    func race() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "content")
            bench.server.add(Fault(.changedBeforeReading, method: "GET", path: "/a/1", times: 1))
            try await bench.pin("/a")
            try await bench.runWell()
            let item = try #require(try await bench.item("/a/1"))
            #expect(item.remoteVersion == .current)
        }
    }

    @Test("S16: a file that changes before every reading is listed again three times, and then is an issue")
    func endlessRace() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2"] { bench.put(path, path) }
            try await bench.pin("/a")
            try await bench.runWell()
            bench.put("/a/1", "newer")
            let fault = bench.server.add(Fault(.changedBeforeReading, method: "GET", path: "/a/1"))
            let outcome = try await bench.runBadly()
            #expect(bench.downloads == Array(repeating: "/a/1", count: 4))
            #expect(outcome.worst == .failed && outcome.left.map(\.path.text) == ["/a/1"])
            let issue = try #require(outcome.issues.first)
            #expect(outcome.issues.count == 1 && issue.subject == "/a/1" && issue.code == "download.retry")
            // The version that was here stays until there is a whole newer one.
            #expect(try bench.text("/a/1") == "/a/1")
            #expect(try bench.text("/a/2") == "/a/2")

            // Nobody answered: nothing is asked of the server, and the run says so again.
            let again = try await bench.runBadly()
            #expect(bench.downloads == [] && again.issues.map(\.id) == [issue.id])
            bench.server.remove(fault)
            try await bench.host.perform(Issues.Answer(issue.id, choice: "retry"))
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "newer")
            #expect(try await bench.issues() == [])
        }
    }

    @Test(
        "C2: a password that stops working is sent by the downloads under way at that moment, and by nothing else",
        .timeLimit(.minutes(20)), arguments: [Fault.Kind.status(401), .endless(401)])
    func refusedMeanwhile(_ refusal: Fault.Kind) async throws {
        var settings = Settings()
        settings.limits.downloads = 3
        try await Bench.running(settings: settings) { bench in
            for number in 0..<40 { bench.put("/a/\(number)", "content") }
            try await bench.pin("/a")
            let hold = bench.server.add(Fault(.hold(), method: "GET", path: "/a", below: true))
            bench.server.add(Fault(refusal, method: "GET", path: "/a", below: true))
            let host = try await bench.ready()
            async let outcome = host.runOnce()
            await bench.server.untilHeld(hold, count: 3)
            bench.server.remove(hold)
            #expect(await outcome.worst == .denied)
            // One that does not end is in the log when the server has seen that nobody reads on.
            await until { bench.server.requests.count { $0.status == 401 } >= 3 }
            #expect(bench.server.requests.filter { $0.status == 401 }.count == 3)
            #expect(bench.downloads.count == 3)
            let requests = bench.server.requests.count
            #expect(await host.runOnce().worst == .denied)
            #expect(bench.server.requests.count == requests)
        }
    }

    @Test("S17: a person's download over a changed file waits for the person's word, and then does as it is told")
    func modified() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "content")
            try await bench.runWell()
            try await bench.download("/a/1")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/1"))
            bench.put("/a/1", "theirs")
            try await bench.run()
            try await bench.download("/a/1")
            try await bench.runBadly()
            #expect(try bench.text("/a/1") == "mine")
            let issue = try #require(try await bench.issues().first)
            #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            try await bench.host.perform(Issues.Answer(issue.id, choice: try #require(issue.choices.last).id))
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "theirs")
        }
    }
}
