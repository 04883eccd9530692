import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// Downloads that a person requests.
@Suite(.serialized) struct GetTests {
    private func withAccount(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a 100%.txt", "b.txt"] { server.tree.put("/Docs/\(name)", "content of \(name)") }
                server.tree.put("/Docs/Deep/er/c.txt", "content of c")
                server.tree.makeFolder("/Docs/Empty")
                server.tree.put("/other.txt", "other")
                try await body(server, try Account(in: folder, server))
            }
        }
    }

    private func must(_ account: Account, _ arguments: String...) async throws {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
    }

    @Test(
        "P37: a file that nothing was known of is fetched alone, is the person's, counts as used, and costs nothing again"
    )
    func file() async throws {
        try await withAccount { server, account in
            let before = Date().formatted(.iso8601)
            let first = try await account.larder("--json", "get", "/Docs/a 100%.txt")
            #expect(first.exitCode == 0, "\(first.summary)")
            #expect(try account.localFiles() == ["Docs/a 100%.txt"])
            #expect(server.requests.paths(of: "GET").count == 1)
            let item = try ItemLine(first)
            #expect(item.downloadTrigger == "user" && item.cloudStatus == "localCopy")
            #expect(item.path == "/Docs/a 100%.txt" && item.localPath == "\(account.files)/Docs/a 100%.txt")
            #expect(try #require(item.lastUsed).prefix(19) >= before.prefix(19))
            server.forgetRequests()
            try await must(account, "get", "/Docs/a 100%.txt")
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A folder is fetched with all below it, empty folders too, and what the server has got since")
    func folder() async throws {
        try await withAccount { server, account in
            try await must(account, "get", "/Docs")
            let three = ["Docs/Deep/er/c.txt", "Docs/a 100%.txt", "Docs/b.txt"]
            #expect(try account.localFiles() == three)
            #expect(Files.isFolder("\(account.files)/Docs/Empty"))
            server.tree.put("/Docs/Deep/d.txt", "new")
            server.forgetRequests()
            try await must(account, "get", "/Docs/Deep")
            #expect(try account.localFiles() == ["Docs/Deep/d.txt"] + three)
            #expect(server.requests.paths(of: "GET").count == 1)
        }
    }

    @Test("A file is copied elsewhere too, whole or not at all, through a link, in place of what was there")
    func export() async throws {
        try await withAccount { server, account in
            let target = "\(account.folder)/out/copy.txt"
            let missing = try await account.larder("get", "/Docs/b.txt", "--to", target)
            #expect(missing.exitCode == 73 && missing.errors.contains(target), "\(missing.summary)")
            try Files.makeFolder("\(account.folder)/out")
            try await must(account, "get", "/Docs/b.txt", "--to", target)
            #expect(try Files.text(target) == "content of b.txt")
            #expect(try account.text("Docs/b.txt") == "content of b.txt")
            try Files.write("old and longer than what comes", to: target, mode: 0o640)
            try #require(symlink(target, "\(account.folder)/link") == 0)
            server.forgetRequests()
            try await must(account, "get", "/Docs/b.txt", "--to", "\(account.folder)/link")
            #expect(try Files.text(target) == "content of b.txt")
            #expect(server.requests.isEmpty)
            #expect(try Files.names(in: "\(account.folder)/out") == ["copy.txt"])
            for (arguments, code) in [
                (["get", "/Docs", "--to", target], Int32(65)),
                (["get", "/Docs/b.txt", "--to", "\(account.folder)/out"], 73),
                (["get", "/Docs/b.txt", "--to", "/dev/null"], 73),
                (["get", "/Docs/b.txt", "--to", target, "--queue"], 64),
                (["get", "/Docs/b.txt", "--wait", "--queue"], 64),
            ] {
                let result = try await account.larder.run(arguments)
                #expect(result.exitCode == code, "\(arguments)\n\(result.summary)")
            }
            #expect(try Files.text(target) == "content of b.txt")
        }
    }

    @Test("S17: a person's download of a changed file asks first; neither the copy nor --to is written over")
    func modified() async throws {
        try await withAccount { server, account in
            try await must(account, "get", "/Docs/b.txt")
            try Files.write("mine", to: "\(account.files)/Docs/b.txt")
            let target = "\(account.folder)/copy.txt"
            let result = try await account.larder("--json", "get", "/Docs/b.txt", "--to", target)
            #expect(result.exitCode == 1 && result.errors.contains("was changed here"), "\(result.summary)")
            #expect(result.errors.contains("overwriteModifiedFile"))
            #expect(try account.text("Docs/b.txt") == "mine")
            #expect(!Files.exists(target))
            // A second request leads to the same issue.
            #expect(try await account.larder("get", "/Docs/b.txt").exitCode == 1)
            let issues = try await account.larder("--json", "issue", "list")
            #expect(issues.lines.count == 1, "\(issues.summary)")
        }
    }

    @Test("Without the server what is here is had at once; the rest is queued, and the exit code says so")
    func offline() async throws {
        try await withAccount { server, account in
            try await must(account, "get", "/Docs/b.txt")
            try await must(account, "run", "--once")
            await server.stop()
            try await must(account, "get", "/Docs/b.txt")
            let known = try await account.larder("--json", "get", "/other.txt")
            #expect(known.exitCode == 69 && known.errors.contains("next `larder run`"), "\(known.summary)")
            let records = try await account.larder("--json", "sync", "list")
            #expect(records.output.contains("/other.txt"), "\(records.summary)")
            let unknown = try await account.larder("get", "/nothing")
            #expect(unknown.exitCode == 69, "\(unknown.summary)")
        }
    }

    @Test("What is queued asks no server; the next run fetches it, and a later get fetches nothing but its own")
    func queued() async throws {
        try await withAccount { server, account in
            try await must(account, "run", "--once")
            server.forgetRequests()
            try await must(account, "get", "/Docs", "--queue")
            #expect(server.requests.isEmpty)
            try await must(account, "get", "/other.txt")
            #expect(try account.localFiles() == ["other.txt"])
            try await must(account, "run", "--once")
            #expect(try account.localFiles().count == 4)
        }
    }

    @Test("S27: no such item is 66, and while a host runs it does what commands ask")
    func refusals() async throws {
        try await withAccount { server, account in
            for arguments in [["get", "/nothing/at/all"], ["get", "/other.txt/x"], ["get", "/nothing", "--queue"]] {
                let result = try await account.larder.run(arguments)
                #expect(result.exitCode == 66, "\(arguments)\n\(result.summary)")
            }
            let bad = try await account.larder("get", "/Docs//b")
            #expect(bad.exitCode == 65, "\(bad.summary)")
            let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
            try await account.untilOnline(host, log: "\(account.folder)/log")
            let commands: [([String], Int32)] = [
                (["get", "/other.txt"], 0), (["free", "/other.txt"], 0), (["get", "/nothing/at/all"], 66),
                (["use", "/other.txt"], 0), (["claim", "remove", "x"], 66),
                (["claim", "add", "/other.txt", "--type", "read"], 0),
            ]
            for (arguments, code) in commands {
                let result = try await account.larder.run(arguments)
                #expect(result.exitCode == code, "\(arguments)\n\(result.summary)")
            }
            #expect(await host.stop() == .code(0))
        }
    }

    @Test("A person gets files from a server that tells nothing in its ETags", arguments: [RealServer.Program.apache])
    func realServer(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            for name in ["a", "b/c", "b/d e"] { try Files.write("content of \(name)", to: "\(data)/\(name)") }
            try await withServer(program, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server)
                try await must(account, "get", "/b/d e", "--to", "\(folder)/copy")
                #expect(try account.localFiles() == ["b/d e"])
                #expect(try Files.text("\(folder)/copy") == "content of b/d e")
                try await must(account, "get", "/")
                #expect(try await account.difference(from: data) == "")
                try await must(account, "free", "/")
                #expect(try account.localFiles() == [])
            }
        }
    }
}

/// The fields of an item, as a command prints it, that the tests check.
struct ItemLine: Decodable {
    var path: String
    var cloudStatus: String
    var downloadTrigger: String?
    var localPath: String?
    var lastUsed: String?

    /// Decodes the first item that a command printed.
    init(_ result: ProcessResult) throws {
        guard let line = result.lines.first else { throw SetupError("nothing was printed: \(result.summary)") }
        self = try JSONDecoder().decode(ItemLine.self, from: Data(line.utf8))
    }
}
