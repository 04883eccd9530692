import DemoServer
import TestServer
import TestSupport
import Testing

/// Shares on a server that supports OCS, as a person sees them.
@Suite(.serialized) struct ShareTests {
    /// A person's account with loops that poll each second, while the item list is polled only at a long interval.
    private struct Fixture {
        let server: TestServer
        var account: Account
        var host: ChildProcess?

        init(in folder: String, _ server: TestServer, interval: String = "1s") throws {
            self.server = server
            account = try Account(in: folder, server, settings: Self.settings(interval))
            account.larder.hasLoops = true
        }

        static func settings(_ interval: String) -> [String] {
            ["poll: 30m", "walk: 30m", "plugins:", "  core-loop: { interval: \(interval) }"]
        }

        func list() async throws -> [String] {
            try await account.larder("--json", "share", "list").lines
        }

        func once() async throws {
            let result = try await account.larder("run", "--once")
            #expect(result.exitCode == 0, "\(result.summary)")
        }

        func log() throws -> String { try Files.text("\(account.folder)/log") }

        /// Checks a condition repeatedly until it holds.
        func until(
            _ what: String, _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
        ) async throws {
            try await soon(what, beside: host, log: "\(account.folder)/log", place) { try await isSo() }
        }

        /// Waits until the server's list of shares was requested this many further times.
        func untilListed(times: Int, _ place: SourceLocation = #_sourceLocation) async throws {
            let before = listings
            try await until("the shares are listed", place) { listings >= before + times }
        }

        private var listings: Int {
            server.requests.filter { $0.path.hasSuffix("/shares") && $0.query?.contains("shared_with_me") == true }
                .count
        }
    }

    private func withSharing(
        interval: String = "1s", _ manner: Manner = Manner(), _ body: (inout Fixture) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.manner = manner
            try await TestServer.running(configuration) { server in
                server.tree.put("/Photos/a.jpg", "a", modified: 1_700_000_000)
                server.tree.put("/From Grace/100% ä/b.txt", "b", modified: 1_700_000_000)
                server.shares.add(Share("/Photos", .byMe, type: 3, token: "t1"))
                server.shares.add(Share("/From Grace/100% ä", .withMe, owner: "grace"))
                var fixture = try Fixture(in: folder, server, interval: interval)
                do { try await body(&fixture) } catch { Issue.record(error) }
                await fixture.host?.stop()
            }
        }
    }

    /// Runs the body with an account whose host is running and knows the shares.
    private func withHost(
        interval: String = "1s", _ manner: Manner = Manner(), _ body: (Fixture) async throws -> Void
    ) async throws {
        try await withSharing(interval: interval, manner) { fixture in
            let fixture = try Self.started(&fixture)
            try await fixture.until("the shares are known") { try await fixture.list().count == 2 }
            // A loop that the core loop finds joins the next cycle.
            if interval == "1s" {
                try await fixture.until("their loops know where they are") {
                    let loops = try await fixture.account.larder("--json", "loop", "list").lines
                    let places = [#""eventID":"etag:"#, #""eventID":"scanned""#]
                    return loops.filter { loop in
                        loop.contains(#""kind":"share""#) && places.contains { loop.contains($0) }
                    }.count == 2
                }
            }
            try await body(fixture)
        }
    }

    private static func started(_ fixture: inout Fixture) throws -> Fixture {
        fixture.host = try fixture.account.larder.start(["run"], errors: "\(fixture.account.folder)/log")
        return fixture
    }

    @Test("O01: a run shows what is shared, by me and with me, and the item that is shared says so")
    func once() async throws {
        try await withSharing { fixture in
            try await fixture.once()
            let list = try await fixture.list()
            #expect(list.count == 2 && list[0].contains(#""direction":"byMe","path":"/Photos""#), "\(list)")
            #expect(list[1].contains(#""direction":"withMe","path":"/From Grace/100% ä""#), "\(list)")
            #expect(list[1].contains(#""owner":"grace""#) && list[1].contains(#""state":"accepted""#))
            let stat = try await fixture.account.larder("--json", "stat", "/From Grace/100% ä")
            #expect(stat.output.contains(#""shares":["2"]"#), "\(stat.summary)")
            #expect(
                try await fixture.account.larder("--json", "stat", "/Photos/a.jpg").output.contains(#""shares":[]"#))
        }
    }

    @Test("A change below a share is here at once, though nothing above it tells and the next scan is far away")
    func changed() async throws {
        var manner = Manner()
        // The propagation of ETags is that of a server on which a share is in another person's storage.
        manner.propagation = .toParent
        try await withHost(manner) { fixture in
            let listed = { try await fixture.account.larder("--json", "ls", "/From Grace", "-r").output }
            #expect(try await !listed().contains("c.txt"))
            fixture.server.tree.put("/From Grace/100% ä/c.txt", "c")
            try await fixture.until("the new file is known") { try await listed().contains("c.txt") }
        }
    }

    @Test("O04: a share that was ended is gone, with its loop, and the files stay")
    func removed() async throws {
        try await withHost { fixture in
            fixture.server.shares.remove(2)
            try await fixture.until("the share is gone") { try await fixture.list().count == 1 }
            #expect(fixture.server.requests.filter { $0.path.hasSuffix("/shares/2") }.map(\.status) == [404])
            let loops = try await fixture.account.larder("--json", "loop", "list").output
            #expect(
                loops.contains(#""id":"1","kind":"share""#) || loops.contains(#""kind":"share","id":"1""#), "\(loops)")
            #expect(loops.components(of: #""kind":"share""#) == 1)
            #expect(try await fixture.account.larder("stat", "/From Grace/100% ä/b.txt").exitCode == 0)
        }
    }

    @Test("O03: sharing that is switched off takes no share away, and is told once")
    func switchedOff() async throws {
        try await withHost { fixture in
            fixture.server.behave { $0.shares.enabled = false }
            try await fixture.until("it is told") { try fixture.log().contains("sharing is switched off") }
            let polls = { fixture.server.requests.filter { $0.path.hasSuffix("/cloud/user") }.count }
            let before = polls()
            try await fixture.until("it is polled on") { polls() > before + 4 }
            #expect(try await fixture.list().count == 2)
            #expect(try fixture.log().components(of: "sharing is switched off") == 1)
            #expect(!fixture.server.requests.contains { $0.path.hasSuffix("/shares/1") })
        }
    }

    @Test("O04: shares that are left out of the list without a word stay")
    func leftOut() async throws {
        try await withHost { fixture in
            for id in 1...2 { fixture.server.shares.change(id) { $0.isAvailable = false } }
            let asked = { fixture.server.requests.filter { $0.path.hasSuffix("/shares/2") }.count }
            try await fixture.until("the share itself is asked for") { asked() >= 3 }
            #expect(try await fixture.list().count == 2)
            for id in 1...2 { fixture.server.shares.change(id) { $0.isAvailable = true } }
            try await fixture.untilListed(times: 3)
            let before = asked()
            try await fixture.untilListed(times: 2)
            #expect(asked() == before)
            #expect(try await fixture.list().count == 2)
        }
    }

    @Test(
        "O05: a share that waits is shown as pending, and is looked at when it is accepted")
    func pending() async throws {
        try await withHost { fixture in
            var share = Share("/New", .withMe, owner: "joan")
            share.state = .pending
            let id = fixture.server.shares.add(share)
            let line = { try await fixture.list().first { $0.contains(#""path":"/New""#) } }
            try await fixture.until("it is pending") { try await line()?.contains(#""state":"pending""#) == true }
            #expect(!fixture.server.requests.contains { $0.method == "PROPFIND" && $0.path == "/New" })
            fixture.server.tree.put("/New/n.txt", "n")
            fixture.server.shares.change(id) { $0.state = .accepted }
            try await fixture.until("it is accepted") { try await line()?.contains(#""state":"accepted""#) == true }
            try await fixture.until("what is in it is known") {
                try await fixture.account.larder("stat", "/New/n.txt").exitCode == 0
            }
        }
    }

    @Test("O08: what a server announces in its stream of events is asked for at once, though the loops rest for long")
    func stream() async throws {
        var manner = Manner()
        manner.hints.stream = true
        try await withHost(interval: "30m", manner) { fixture in
            await fixture.server.hints.untilStreamsOpened(1)
            fixture.server.shares.add(Share("/Photos/a.jpg", .byMe, sharedWith: "joan"))
            fixture.server.hints.send("share-created", data: #"{"itemid":"1"}"#)
            try await fixture.until("the new share is known") { try await fixture.list().count == 3 }
        }
    }

    @Test("O09: a server that wants to be left alone is left alone, and another account is polled on")
    func retryAfter() async throws {
        try await withHost { fixture in
            try await withTemporaryFolder { folder in
                try await TestServer.running { busy in
                    // The account of the busy server is the second one in the same config.
                    let other = try Account(in: folder, busy)
                    let account = try Files.text(other.larder.config).replacing("name: home", with: "name: busy")
                    let mine = try Files.text(fixture.account.larder.config)
                    try Files.write(
                        mine.replacing("poll: 30m", with: account.dropFirst("accounts:\n".count) + "poll: 30m"),
                        to: "\(folder)/both.yaml", mode: 0o600)
                    await fixture.host?.stop()
                    var both = fixture
                    both.account.larder.config = "\(folder)/both.yaml"
                    busy.shares.add(Share("/", .byMe, sharedWith: "joan"))
                    busy.add(Fault(.status(429, retryAfter: 3_000), path: "/ocs/v2.php", below: true, from: 2))
                    let running = try Self.started(&both)
                    defer { running.host?.send(15) }
                    try await running.until("the busy server says so") { busy.requests.contains { $0.status == 429 } }
                    try await running.untilListed(times: 2)
                    busy.forgetRequests()
                    try await running.untilListed(times: 4)
                    #expect(busy.requests == [])
                    await running.host?.stop()
                }
            }
        }
    }
}

extension String {
    /// Returns how often the text occurs in this one.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
