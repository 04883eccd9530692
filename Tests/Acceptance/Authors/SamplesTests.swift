import Glibc
import TestSupport
import Testing

/// The samples for authors of plugins, as a person builds, installs and runs them.
@Suite struct SamplesTests {
    private static let year2019 = 1_560_000_000

    @Test(
        "G23: a sample that is copied from an installation is built there, and passes its own test and all checks",
        arguments: ["large-files", "this-month", "archive"])
    func works(name: String) async throws {
        try await withTemporaryFolder { folder in
            let sample = try await BuiltSample(name, in: folder)
            try await sample.expectAllChecksPass()
            let tried = try await sample.installed.run(
                sample.installed.larder, ["plugin", "try", sample.library, "--items", "items.jsonl"], in: sample.folder)
            #expect(tried.exitCode == 0 && tried.output.contains("asks: "), "\(tried.summary)")
            switch name {
            case "large-files": try await removesLargeFiles(sample, in: folder)
            case "this-month": try await keepsThisMonth(sample, in: folder)
            default: try await archives(sample, in: folder)
            }
        }
    }

    /// Starts a server and makes an account on it, with the sample in its config.
    private func withAccount(
        _ program: RealServer.Program, _ config: [String], in folder: String,
        _ body: (RealServer, Account) async throws -> Void
    ) async throws {
        try Files.makeFolder("\(folder)/data")
        try await withServer(program, data: "\(folder)/data", options: Account.withLogin) { server in
            try await body(server, try Account(in: folder, server, settings: config))
        }
    }

    @discardableResult private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    /// Runs the host until there are these copies here.
    private func run(_ account: Account, until expected: [String]) async throws {
        for _ in 1...100 where try account.localFiles() != expected { try await must(account, "run", "--once") }
        #expect(try account.localFiles() == expected)
    }

    private func removesLargeFiles(_ sample: BuiltSample, in folder: String) async throws {
        let config = sample.config("sizes: [{ above: 1MB, after: 1s }, { above: 10kB, after: 1d }]")
        try await withAccount(.rclone, config, in: folder) { server, account in
            let large = String(repeating: "large", count: 300_000)
            for name in ["large", "pinned", "rather large"] {
                try await server.put(name, name.hasSuffix(" large") ? String(large.prefix(20_000)) : large)
            }
            try await server.put("small", "small")
            try await server.put("empty", "")
            for name in ["empty", "large", "pinned", "rather large", "small"] {
                try await must(account, "get", "/\(name)")
            }
            try await must(account, "pin", "/pinned")
            let why = try await must(account, "explain", "/large")
            #expect(
                why.output.contains("it says: its copy goes 1s after its last use, since it is larger than 1MB"),
                "\(why.summary)")
            try await run(account, until: ["empty", "pinned", "rather large", "small"])
            #expect(Files.exists("\(server.data)/large"))
            // A copy that went comes again when somebody fetches it.
            try await must(account, "get", "/large")
            #expect(try account.text("large") == large)
        }
    }

    private func keepsThisMonth(_ sample: BuiltSample, in folder: String) async throws {
        try await withAccount(.rclone, sample.config("folder: /Docs"), in: folder) { server, account in
            // Ahead of now, so that the month does not turn in between.
            let now = time(nil) + 60
            try await server.put("Docs/new", "new", modified: now)
            try await server.put("Docs/deep/empty", "", modified: now)
            try await server.put("Docs/old", "old", modified: Self.year2019)
            try await server.put("new", "new", modified: now)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Docs/deep/empty", "Docs/new"])
            #expect(try account.text("Docs/new") == "new")
            #expect(try await must(account, "policy", "run", "--dry-run").lines == [])
            let why = try await must(account, "explain", "/Docs/old")
            #expect(
                why.output.contains("it says: it was last modified in 2019-06, before this month"), "\(why.summary)")
            // A copy of what is no longer of this month goes.
            try await server.put("Docs/new", "put back", modified: Self.year2019)
            try await run(account, until: ["Docs/deep/empty"])
        }
    }

    private func archives(_ sample: BuiltSample, in folder: String) async throws {
        let config = sample.config("folder: /, years: 3, at-once: 2", grants: "server-changes")
        try await withAccount(.apache, config, in: folder) { server, account in
            for name in ["Docs/a/list", "Docs/b/list", "taken", "Archive/2019/taken"] {
                try await server.put(name, name, modified: Self.year2019)
            }
            try await server.put("Docs/new", "new")
            try await server.handOverData()
            // The copy moves with its file.
            try await must(account, "get", "/Docs/a/list")
            let run = try await must(account, "run", "--once")
            // They are changes of the server's, and nothing that it had moved.
            #expect(
                run.output.contains("changes of the server made") && !run.output.contains(" moved"), "\(run.summary)")
            for name in ["a", "b"] {
                let list = "Archive/2019/Docs/\(name)/list"
                #expect(try Files.text("\(server.data)/\(list)") == "Docs/\(name)/list")
                #expect(!Files.exists("\(server.data)/Docs/\(name)/list"))
            }
            #expect(try account.localFiles() == ["Archive/2019/Docs/a/list"])
            #expect(try Files.text("\(server.data)/taken") == "taken")
            #expect(try Files.text("\(server.data)/Archive/2019/taken") == "Archive/2019/taken")
            #expect(try Files.text("\(server.data)/Docs/new") == "new")
            // What is in the archive stays there. What has no room in it is told.
            let next = try await must(account, "run", "--once")
            #expect(next.errors.contains("old files that stay where they are: 1, such as /taken"), "\(next.summary)")
            let moved = try await must(account, "policy", "run", "--dry-run")
            #expect(moved.lines.count == 1 && moved.output.contains("nothing"), "\(moved.summary)")
            let why = try await must(account, "explain", "/taken")
            #expect(
                why.output.contains(
                    "it says: it stays where it is, since the archive has something already at /Archive/2019/taken"),
                "\(why.summary)")
        }
    }
}
