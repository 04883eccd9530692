import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The effects of each processor for a person, through the command line alone, on the test server and on a foreign
/// server.
@Suite(.serialized) struct ProcessorTests {
    enum Kind: CaseIterable { case demo, apache }

    /// A server's files, which are changed in different ways on each server.
    private enum Served {
        case demo(TestServer)
        case apache(RealServer)

        func put(_ path: String, _ text: String, version: Int = 0) async throws {
            let modified = 1_600_000_000 + version
            switch self {
            case .demo(let server): server.tree.put("/\(path)", text, modified: Int64(modified))
            case .apache(let server): try await server.put(path, text, modified: modified)
            }
        }

        func remove(_ path: String) {
            switch self {
            case .demo(let server): server.tree.remove("/\(path)")
            case .apache(let server): Files.remove("\(server.data)/\(path)")
            }
        }
    }

    private func withAccount(
        _ kind: Kind, plugins: String, _ body: (Served, inout Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let settings = ["plugins: \(plugins)"]
            switch kind {
            case .demo:
                try await TestServer.running { server in
                    var account = try Account(in: folder, server, settings: settings)
                    try await body(.demo(server), &account)
                }
            case .apache:
                try Files.makeFolder("\(folder)/data")
                try await withServer(.apache, data: "\(folder)/data", options: Account.withLogin) { server in
                    var account = try Account(in: folder, server, settings: settings)
                    try await body(.apache(server), &account)
                }
            }
        }
    }

    /// Runs a command, expects that it succeeds, and returns its output.
    @discardableResult private func must(_ account: Account, _ arguments: String...) async throws -> String {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result.output
    }

    /// Replaces the plugins' settings in the config.
    private func set(_ account: Account, plugins: String) throws {
        let config = try Files.text("\(account.folder)/config.yaml").split(separator: "\n")
        let lines = config.map { $0.hasPrefix("plugins:") ? "plugins: \(plugins)" : String($0) }
        try Files.write(lines.joined(separator: "\n") + "\n", to: "\(account.folder)/config.yaml", mode: 0o600)
    }

    @Test(
        "P36: a downloaded copy goes after its time, not before, and not while it is claimed, open, mapped, changed or pinned",
        arguments: Kind.allCases)
    func expiration(_ kind: Kind) async throws {
        let names = ["changed", "claimed", "idle 100%.txt", "mapped", "open", "pinned"]
        try await withAccount(kind, plugins: "{ download-expiration: { after: 1h } }") { served, account in
            for name in names { try await served.put(name, "content of \(name)") }
            for name in names { try await must(account, "get", "/\(name)") }
            try await must(account, "pin", "/pinned")
            try await must(account, "claim", "add", "/claimed", "--type", "read", "--id", "mine")
            try await must(account, "run", "--once")
            try Files.write("changed here", to: "\(account.files)/changed")
            #expect(try account.localFiles() == names)
            let explained = try await must(account, "explain", "/idle 100%.txt")
            #expect(explained.contains("expires 20") && explained.contains("at the first scan after"), "\(explained)")

            let open = Glibc.open("\(account.files)/open", O_RDONLY | O_CLOEXEC)
            let file = Glibc.open("\(account.files)/mapped", O_RDONLY | O_CLOEXEC)
            let mapping = mmap(nil, 4, PROT_READ, MAP_SHARED, file, 0)
            close(file)
            try set(account, plugins: "{ download-expiration: { after: 1s } }")
            try await Task.sleep(for: .milliseconds(1_200))
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == names.filter { $0 != "idle 100%.txt" })
            #expect(try await must(account, "--json", "sync", "list") == "")
            #expect(try await must(account, "--json", "ls", "/").contains("\"name\":\"idle 100%.txt\""))

            close(open)
            munmap(mapping, 4)
            try await must(account, "claim", "remove", "mine")
            try await Task.sleep(for: .milliseconds(1_200))
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["changed", "pinned"])
            #expect(try account.text("changed") == "changed here")
            // A copy that expired is fetched again when it is requested.
            try await must(account, "get", "/idle 100%.txt")
            #expect(try account.text("idle 100%.txt") == "content of idle 100%.txt")
        }
    }

    @Test("P38: without a server copies expire too", arguments: Kind.allCases)
    func expirationOffline(_ kind: Kind) async throws {
        try await withAccount(kind, plugins: "{ download-expiration: { after: 1s } }") { served, account in
            try await served.put("a", "a")
            try await must(account, "get", "/a")
            let config = try Files.text("\(account.folder)/config.yaml")
            let nowhere = "    url: http://127.0.0.1:1/"
            let lines = config.split(separator: "\n").map { $0.hasPrefix("    url:") ? nowhere : String($0) }
            try Files.write(lines.joined(separator: "\n") + "\n", to: "\(account.folder)/config.yaml", mode: 0o600)
            try await Task.sleep(for: .milliseconds(1_200))
            let result = try await account.larder("run", "--once")
            #expect(result.exitCode == 69, "\(result.summary)")
            #expect(try account.localFiles() == [])
        }
    }

    @Test(
        "P46: what is deleted on the server goes here after its time; what was changed or is open stays",
        arguments: Kind.allCases)
    func vacuum(_ kind: Kind) async throws {
        try await withAccount(kind, plugins: "{ vacuum: { after: 1h } }") { served, account in
            for name in ["kept", "gone/a", "gone/deep/b", "open", "changed"] { try await served.put(name, name) }
            try await must(account, "pin", "/")
            try await must(account, "run", "--once")
            for name in ["gone", "open", "changed"] { served.remove(name) }
            try await must(account, "run", "--once")
            // Vacuum does not remove the copy before its time.
            try await must(account, "run", "--once")
            #expect(try account.text("gone/deep/b") == "gone/deep/b")
            try Files.write("changed here", to: "\(account.files)/changed")
            let open = Glibc.open("\(account.files)/open", O_RDONLY | O_CLOEXEC)
            try set(account, plugins: "{ vacuum: { after: 1s } }")
            try await Task.sleep(for: .milliseconds(1_200))
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["changed", "kept", "open"])
            #expect(!Files.exists("\(account.files)/gone"))
            close(open)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["changed", "kept"])
            #expect(try account.text("changed") == "changed here")
            #expect(try await must(account, "--json", "ls", "-r", "--removed").contains("gone") == false)
        }
    }

    @Test(
        "P41 P42 P43: of what is newer on the server an idle copy goes, a read one is renewed, a written one stays",
        arguments: Kind.allCases)
    func versionUpdates(_ kind: Kind) async throws {
        let names = ["changed", "idle", "open", "pinned", "read", "written"]
        try await withAccount(kind, plugins: "{}") { served, account in
            for name in names { try await served.put(name, "first") }
            for name in names { try await must(account, "get", "/\(name)") }
            try await must(account, "pin", "/pinned")
            try await must(account, "claim", "add", "/read", "--type", "read")
            try await must(account, "claim", "add", "/written", "--type", "write")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == names)
            for name in names { try await served.put(name, "second!", version: 5) }
            try Files.write("changed here", to: "\(account.files)/changed")
            let open = Glibc.open("\(account.files)/open", O_RDONLY | O_CLOEXEC)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == names.filter { $0 != "idle" })
            for (name, text) in [
                ("changed", "changed here"), ("open", "first"), ("pinned", "second!"), ("read", "second!"),
                ("written", "first"),
            ] {
                #expect(try account.text(name) == text, "\(name)")
            }
            #expect(try await must(account, "--json", "stat", "/written").contains(#""remoteVersion":"newer""#))
            #expect(try await must(account, "--json", "stat", "/read").contains(#""downloadTrigger":"user""#))
            #expect(try await must(account, "claim", "list").split(separator: "\n").count >= 2)
            close(open)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == names.filter { $0 != "idle" && $0 != "open" })
        }
    }

    // spec: P45
    @Test(
        "P45: killed at any moment while an outdated copy goes, the next start finds the file on the server alone",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"),
        arguments: ["renameat2", "unlinkat", "fdatasync"])
    func killed(_ call: String) async throws {
        try await withAccount(.demo, plugins: "{}") { served, account in
            var version = 0
            var kills = 0
            for moment in 1...12 {
                try await served.put("a", "old \(moment)", version: version)
                try await must(account, "get", "/a")
                version += 10
                try await served.put("a", "new \(moment), and longer", version: version)
                account.larder.wrapper = [
                    "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=SIGKILL:when=\(moment)",
                ]
                let result = try await account.larder("run", "--once")
                account.larder.wrapper = []
                try await must(account, "run", "--once")
                #expect(try account.localFiles() == [])
                let item = try await must(account, "--json", "stat", "/a")
                #expect(item.contains(#""cloudStatus":"cloudOnly""#) && item.contains(#""localPath":null"#), "\(item)")
                #expect(try Files.filesBelow("\(account.vault)/incoming") == [])
                // If the run was not killed, it has no further calls of this type.
                if result.exitCode == 0 { break }
                kills += 1
            }
            #expect(kills > 0)
        }
    }

    @Test(
        "P48: a copy that this person may not remove stays known, is tried again, and holds up no other",
        .enabled(if: Build.isRoot, "becoming another user needs root"))
    func notPermitted() async throws {
        try await withAccount(.demo, plugins: "{ vacuum: { after: 0s } }") { served, account in
            for name in ["locked/a", "other/b", "kept"] { try await served.put(name, name) }
            account.larder.unprivileged = true
            try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", account.folder])
            try await must(account, "pin", "/")
            try await must(account, "run", "--once")
            try #require(chmod("\(account.files)/locked", 0o500) == 0)
            for name in ["locked", "other"] { served.remove(name) }
            try await must(account, "run", "--once")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["kept", "locked/a"])
            #expect(try await must(account, "--json", "ls", "-r", "--removed").contains("/locked/a"))
            try #require(chmod("\(account.files)/locked", 0o700) == 0)
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["kept"])
            #expect(!Files.exists("\(account.files)/locked"))
        }
    }

    @Test("P51: a server that lost its files is believed only when a person says so", arguments: Kind.allCases)
    func massRemoval(_ kind: Kind) async throws {
        try await withAccount(kind, plugins: "{ vacuum: { after: 0s } }") { served, account in
            for number in 10..<40 { try await served.put("box/\(number)", "x") }
            try await served.put("kept", "x")
            try await must(account, "pin", "/")
            try await must(account, "run", "--once")
            served.remove("box")
            let held = try await account.larder("run", "--once")
            #expect(held.exitCode == 1 && held.errors.contains("31 of 32 items"), "\(held.summary)")
            #expect(try account.localFiles().count == 31)
            let issue = try await must(account, "--json", "issue", "list")
            #expect(issue.contains(#""code":"list.removals""#), "\(issue)")
            try await must(account, "issue", "resolve", "--all", "--code", "list.removals", "apply")
            try await must(account, "run", "--once")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["kept"])
        }
    }
}
