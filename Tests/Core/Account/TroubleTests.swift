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
        try await AccountFixture.running(clock: .account(patience: .seconds(15))) { fixture in
            fixture.put("/a/1", "content")
            fixture.put("/a/2", "other content")
            fixture.server.add(Fault(kind, method: "GET", path: "/a/1", times: 1))
            try await fixture.pin("/a")
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "content")

            fixture.put("/a/1", "another content")
            fixture.server.add(Fault(kind, method: "GET", path: "/a/1"))
            let outcome = try await fixture.runBadly()
            #expect(outcome.leftCount == 1)
            #expect(try fixture.text("/a/1") == "content")
            #expect(try Files.names(in: fixture.bookmark.vault + "/incoming").count <= 1)
        }
    }

    @Test("S16: a file that changes between its listing and its reading comes in its new version")
    func race() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "content")
            fixture.server.add(Fault(.changedBeforeReading, method: "GET", path: "/a/1", times: 1))
            try await fixture.pin("/a")
            try await fixture.runWell()
            let item = try #require(try await fixture.item("/a/1"))
            #expect(item.remoteVersion == .current)
        }
    }

    @Test("S16: a file that changes before every reading is listed again three times, and then is an issue")
    func endlessRace() async throws {
        try await AccountFixture.running(clock: .account(patience: .seconds(15))) { fixture in
            for path in ["/a/1", "/a/2"] { fixture.put(path, path) }
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.put("/a/1", "newer")
            let fault = fixture.server.add(Fault(.changedBeforeReading, method: "GET", path: "/a/1"))
            let outcome = try await fixture.runBadly()
            #expect(fixture.downloads == Array(repeating: "/a/1", count: 4))
            #expect(outcome.worst == .failed && outcome.left.map(\.path.text) == ["/a/1"])
            let issue = try #require(outcome.issues.first)
            #expect(outcome.issues.count == 1 && issue.subject == "/a/1" && issue.code == "download.retry")
            // The old version stays here until a newer version is complete.
            #expect(try fixture.text("/a/1") == "/a/1")
            #expect(try fixture.text("/a/2") == "/a/2")

            // The next run lists another version, asks for it once and once more, and reports the issue again.
            let again = try await fixture.runBadly()
            #expect(fixture.downloads.count <= 2 && again.issues.map(\.id) == [issue.id])
            fixture.server.remove(fault)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "retry"))
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "newer")
            #expect(try await fixture.issues() == [])
        }
    }

    @Test(
        "C2: a password that stops working is sent by the downloads under way at that moment, and by nothing else",
        .timeLimit(.minutes(20)), arguments: [Fault.Kind.status(401), .endless(401)])
    func refusedMeanwhile(_ refusal: Fault.Kind) async throws {
        var settings = Settings()
        settings.limits.downloads = 3
        try await AccountFixture.running(settings: settings) { fixture in
            for number in 0..<40 { fixture.put("/a/\(number)", "content") }
            try await fixture.pin("/a")
            let hold = fixture.server.add(Fault(.hold(), method: "GET", path: "/a", below: true))
            fixture.server.add(Fault(refusal, method: "GET", path: "/a", below: true))
            let host = try await fixture.ready()
            async let outcome = host.runOnce()
            await fixture.server.untilHeld(hold, count: 3)
            fixture.server.remove(hold)
            #expect(await outcome.worst == .denied)
            // The log contains an endless answer only when the server has noticed that the client reads no more.
            await until { fixture.server.requests.count { $0.status == 401 } >= 3 }
            #expect(fixture.server.requests.filter { $0.status == 401 }.count == 3)
            #expect(fixture.downloads.count == 3)
            let requests = fixture.server.requests.count
            #expect(await host.runOnce().worst == .denied)
            #expect(fixture.server.requests.count == requests)
        }
    }

    @Test("S17: a person's download over a changed file waits for the person's word, and then does as it is told")
    func modified() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "content")
            try await fixture.runWell()
            try await fixture.download("/a/1")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/1"))
            fixture.put("/a/1", "theirs")
            try await fixture.run()
            try await fixture.download("/a/1")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/1") == "mine")
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            try await fixture.host.perform(Issues.Answer(issue.id, choice: try #require(issue.choices.last).id))
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "theirs")
        }
    }
}
