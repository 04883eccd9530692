import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Claims that a person manages by commands.
@Suite(.serialized) struct ClaimCommandTests {
    private func withAccount(
        unprivileged: Bool = false, _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b"] { server.tree.put("/Docs/\(name)", "content of \(name)") }
                let home = "\(folder)/person"
                var account = try Account(in: home, server)
                if unprivileged {
                    account.larder.unprivileged = true
                    try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", home])
                }
                try await must(account, "pin", "/Docs")
                try await must(account, "run", "--once")
                try await body(server, account)
            }
        }
    }

    private func must(_ account: Account, _ arguments: String...) async throws {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
    }

    /// Lets waiting records continue at once.
    private func retryAll(_ account: Account) async throws {
        for line in try await account.larder("--json", "sync", "list").lines {
            let id = try #require(line.split(separator: ":").dropFirst().first?.prefix { $0.isNumber })
            try await must(account, "sync", "retry", String(id))
        }
    }

    @Test("Claims are added, listed and removed, as people and as programs read them")
    func commands() async throws {
        try await withAccount { _, account in
            let added = try await account.larder(
                "--json", "claim", "add", "/Docs/a", "--type", "write", "--until", "2222-12-24T18:00:00+01:00", "--id",
                "job 100%")
            let line = #"{"id":"job 100%","path":"/Docs/a","type":"write","until":"2222-12-24T17:00:00Z","pid":null}"#
            #expect(added.exitCode == 0 && added.lines == [line], "\(added.summary)")
            try await must(account, "claim", "add", "/Docs/b", "--type", "read", "--pid", "\(getpid())")
            let all = try await account.larder("--json", "claim", "list")
            #expect(all.lines.count == 2 && all.lines.first == line, "\(all.summary)")
            #expect(all.output.contains("\"pid\":\(getpid())"), "\(all.summary)")
            #expect(try await account.larder("--json", "claim", "list", "/Docs/a").lines == [line])
            #expect(try await account.larder("--json", "claim", "list", "Docs").lines.count == 2)
            // A claim that is added again under the same id is the same claim.
            try await must(account, "claim", "add", "/Docs/a", "--type", "read", "--id", "job 100%")
            let shown = try await account.larder("claim", "list", "/Docs/a")
            #expect(shown.lines.count == 2 && shown.output.contains("until it is removed"), "\(shown.summary)")
            try await must(account, "claim", "remove", "job 100%")
            #expect(try await account.larder("--json", "claim", "list", "/Docs/a").output == "")
        }
    }

    @Test("What makes no sense is refused with its code, and nothing is claimed")
    func refusals() async throws {
        try await withAccount { _, account in
            for (arguments, code) in [
                (["/Docs/a", "--type", "own"], Int32(64)), (["/Docs/a"], 64),
                (["/Docs/a", "--type", "read", "--until", "tomorrow"], 64),
                (["/Docs/a", "--type", "read", "--until", "2222-01-01T00:00:00Z", "--pid", "1"], 64),
                (["/Docs/a", "--type", "read", "--until", "2020-01-01T00:00:00Z"], 65),
                (["/Docs/a", "--type", "read", "--pid", "\(Int32.max)"], 65),
                (["/Docs/a", "--type", "read", "--id", ""], 65), (["/Docs", "--type", "read"], 65),
                (["/Docs//a", "--type", "read"], 65), (["/nothing", "--type", "read"], 66),
            ] {
                let result = try await account.larder.run(["claim", "add"] + arguments)
                #expect(result.exitCode == code, "\(arguments)\n\(result.summary)")
            }
            #expect(try await account.larder("--json", "claim", "list").output == "")
            #expect(try await account.larder("claim", "remove", "nobody").exitCode == 66)
            #expect(try await account.larder("claim", "list", "/nothing").exitCode == 66)
            try await must(account, "claim", "add", "/Docs/a", "--type", "read", "--id", "one")
            #expect(try await account.larder("claim", "add", "/Docs/b", "--type", "read", "--id", "one").exitCode == 65)
        }
    }

    @Test("P25 P49: a copy that a process claims stays at unpin until the process is killed", arguments: [false, true])
    func process(unprivileged: Bool) async throws {
        guard !unprivileged || Build.isRoot else { return }
        try await withAccount(unprivileged: unprivileged) { _, account in
            let holder = try ChildProcess("sleep", ["1000"])
            try await must(account, "claim", "add", "/Docs/a", "--type", "read", "--pid", "\(holder.pid)")
            try await must(account, "unpin", "/Docs")
            let left = try await account.larder("run", "--once")
            #expect(left.exitCode == 1 && left.errors.contains("/Docs/a is claimed (read,"), "\(left.summary)")
            #expect(try account.localFiles() == ["Docs/a"])
            holder.send(SIGKILL)
            #expect(await holder.wait() == .signal(SIGKILL))
            #expect(try await account.larder("--json", "claim", "list").output == "")
            try await retryAll(account)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == [])
        }
    }

    @Test("I5 P50: a claim stays with its file through a new version and a move on the server")
    func follows() async throws {
        try await withAccount { server, account in
            try await must(account, "claim", "add", "/Docs/a", "--type", "read", "--id", "job")
            server.tree.put("/Docs/a", "another version")
            try await must(account, "run", "--once")
            #expect(server.tree.move("/Docs/a", to: "/Docs/elsewhere"))
            try await must(account, "run", "--once")
            let list = try await account.larder("--json", "claim", "list")
            #expect(
                list.lines == [#"{"id":"job","path":"/Docs/elsewhere","type":"read","until":null,"pid":null}"#],
                "\(list.summary)")
            try await must(account, "unpin", "/Docs")
            let freed = try await account.larder("free", "/Docs/elsewhere")
            #expect(freed.exitCode == 1 && freed.errors.contains("is claimed (read, job)"), "\(freed.summary)")
            #expect(try account.text("Docs/elsewhere") == "another version")
        }
    }
}
