import DemoServer
import FoundationEssentials
import Glibc
import Model
import TestServer
import TestSupport
import Testing

/// `larder events` and the change feed on the control socket.
@Suite struct EventsTests {
    /// An event, as far as the tests compare it: the kind, the change, and the path or the id.
    private struct Told: Equatable {
        var kind: String
        var change: String?
        var path: String?
        var position: String
        var number: Int64

        init(_ line: some StringProtocol) throws {
            let event = try JSONValue(parsing: String(line))
            func text(_ value: JSONValue?) -> String? { if case .string(let text)? = value { text } else { nil } }
            kind = text(event["kind"]) ?? ""
            change = text(event["change"])
            path = text(event[kind]?["path"])
            position = text(event["position"]) ?? ""
            number = if case .integer(let number)? = event["id"] { number } else { -1 }
        }

        static func all(_ text: String) throws -> [Told] { try text.split(separator: "\n").map { try Told($0) } }

        var isBookmark: Bool { kind == "bookmark" }
    }

    private func paths(_ told: [Told], _ change: String) -> [String] {
        told.filter { $0.kind == "item" && $0.change == change }.compactMap(\.path).sorted()
    }

    @Test(
        "E2 U5: what changed since a position is told with its newest state, also without a host, and what was removed")
    func since() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a%41", "1")
                server.tree.put("/b", "22")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                func events(_ arguments: String...) async throws -> [Told] {
                    let result = try await account.larder.run(["--json", "events"] + arguments)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    return try Told.all(result.output)
                }
                let now = try await events()
                #expect(now.map(\.kind) == ["bookmark"])
                server.tree.put("/c", "333")
                server.tree.put("/a%41", "4444")
                server.tree.remove("/b")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("pin", "/c").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let told = try await events("--since", now[0].position)
                #expect(paths(told, "added") == ["/c"])
                #expect(paths(told, "updated") == ["/", "/a%41"] || paths(told, "updated") == ["/a%41"])
                #expect(paths(told, "removed") == ["/b"])
                #expect(told.contains { $0.kind == "record" && $0.change == "removed" && $0.path == "/c" })
                #expect(told.map(\.number) == Array(1...Int64(told.count)) && told.last?.isBookmark == true)
                let last = try #require(told.last).position
                #expect(try await events("--since", last).map(\.kind) == ["bookmark"])
                // From any position in between, nothing of the rest is missed.
                for event in told.dropLast() {
                    let rest = try await events("--since", event.position)
                    let left = told.drop { $0 != event }.dropFirst()
                    #expect(left.allSatisfy { one in rest.contains { ($0.kind, $0.path) == (one.kind, one.path) } })
                }
                let wrong = try await account.larder("events", "--since", "12")
                #expect(wrong.exitCode == 64 && wrong.errors.contains("--since: 12 is no position"))
                let gap = try await events("--since", "7:1")
                #expect(gap.map(\.kind) == ["gap", "bookmark"] && gap[0].position == gap[1].position)
                let line = try await account.larder("events", "--since", "7:1")
                #expect(line.output.contains("the changes since 7:1 are not known: list everything anew"))
            }
        }
    }

    @Test(
        "E2 G41: a stream tells what changes while it lasts, one that begins at its last event goes on, and a full disk behind it ends it"
    )
    func stream() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "1")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("events", "--follow").exitCode == 69)
                let log = "\(folder)/log"
                let host = try account.larder.start(["run"], errors: log)
                _ = try await account.untilCommanded(host)
                let shown = "\(folder)/shown"
                let follow = try account.larder.start(["--json", "events", "--follow"], output: shown)
                func soonTold(_ what: String, _ isSo: @escaping @Sendable ([Told]) -> Bool) async throws -> [Told] {
                    try await soon(what, beside: follow, log: shown) { isSo(try Told.all(Files.text(shown))) }
                    return try Told.all(Files.text(shown))
                }
                _ = try await soonTold("the first position") { $0.first?.isBookmark ?? false }
                server.tree.put("/b", "22")
                let told = try await soonTold("the file") { $0.contains { $0.path == "/b" && $0.change == "added" } }
                #expect(told.map(\.number) == Array(1...Int64(told.count)))
                // The stream goes on over a restart of the account by a reload.
                let config = try Files.text(account.larder.config)
                try Files.write(
                    config.replacing("poll: 1s", with: "poll: 2s"), to: account.larder.config, mode: 0o600)
                #expect(try await account.larder("reload").exitCode == 0)
                server.tree.put("/c", "333")
                _ = try await soonTold("what came after the reload") {
                    $0.contains { $0.path == "/c" && $0.change == "added" }
                }
                // A foreign client goes on after the last event that it has.
                let socket = try await account.untilCommanded(host)
                let curl = try await TestSupport.run(
                    "curl",
                    [
                        "--silent", "--no-buffer", "--max-time", "2", "--unix-socket", socket, "-H",
                        "Last-Event-ID: \(told[0].position)", "http://larder/v1/accounts/home/changes",
                    ])
                #expect(curl.output.contains("\"path\":\"/b\"") && curl.output.contains("event: change\n"))
                let refused = try await TestSupport.run(
                    "curl",
                    ["--silent", "--unix-socket", socket, "http://larder/v1/accounts/home/changes?since=x"])
                #expect(refused.output.contains("the parameter `since` is no position: x"))
                let command = "timeout 60 '\(try Build.larder)' --config '\(account.larder.config)'"
                for followed in ["events --follow", "watch /"] {
                    let full = try await TestSupport.run("sh", ["-c", "\(command) \(followed) > /dev/full"])
                    #expect(
                        full.exitCode == 74 && full.errors.contains("the output cannot be written"), "\(full.summary)")
                }
                #expect(await follow.stop() == .code(0))
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("E2: a position of another account is refused, on the command line and on the socket")
    func otherAccount() async throws {
        try await SeveralAccounts.running(["a", "b"]) { accounts in
            let host = try accounts.start()
            func position(_ name: String) async throws -> String {
                let told = try await accounts.larder("--json", "--account", name, "events")
                return try Told.all(told.output).last?.position ?? ""
            }
            for name in ["a", "b"] {
                try await soon("the account is at work", beside: host, log: accounts.log) {
                    let status = try await accounts.larder("--json", "--account", name, "status")
                    return status.output.contains(#""connection":"online""#)
                }
            }
            let (mine, other) = (try await position("a"), try await position("b"))
            let lock = try Files.text("\(accounts.folder)/a/lock").split(separator: "\n")
            let socket = String(try #require(lock.count > 1 ? lock[1] : nil))
            let words = "\(other) is a position of the account `b`"
            for follow in [[], ["--follow"]] {
                let refused = try await accounts.larder.run(["--account", "a", "events", "--since", other] + follow)
                #expect(refused.exitCode == 65 && refused.errors.contains(words), "\(refused.summary)")
            }
            #expect(try await accounts.larder("--account", "a", "events", "--since", mine).exitCode == 0)
            for asked in [["-H", "Last-Event-ID: \(other)"], ["--url-query", "since=\(other)"]] {
                let told = try await TestSupport.run(
                    "curl",
                    ["-sS", "--max-time", "60", "--unix-socket", socket] + asked
                        + ["http://larder/v1/accounts/a/changes"])
                #expect(told.output.contains(words), "\(told.summary)")
            }
            #expect(await host.stop() == .code(0))
        }
    }

    @Test("E2: a stream that has told nothing but where it begins misses nothing while the account is opened anew")
    func begun() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "1")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                let socket = try await account.untilCommanded(host)
                try await account.untilOnline(host)
                let shown = "\(folder)/shown"
                let stream = try ChildProcess(
                    "curl",
                    ["-sS", "--no-buffer", "--unix-socket", socket, "http://larder/v1/accounts/home/changes"],
                    output: shown)
                try await soon("where it begins", beside: stream, log: shown) {
                    try Files.text(shown).contains("\"kind\":\"bookmark\"")
                }
                // The account that is opened again finds the file before the stream goes on.
                server.tree.put("/b", "22")
                let config = try Files.text(account.larder.config)
                try Files.write(
                    config.replacing("poll: 1h", with: "poll: 2h"), to: account.larder.config, mode: 0o600)
                #expect(try await account.larder("reload").exitCode == 0)
                try await soon("the file is found", beside: host) {
                    try await account.larder("stat", "/b").exitCode == 0
                }
                try await soon("the file is told", beside: stream, log: shown) {
                    try Files.text(shown).contains("\"path\":\"/b\"")
                }
                stream.send(SIGKILL)
                _ = await stream.wait()
                #expect(await host.stop() == .code(0))
            }
        }
    }
}
