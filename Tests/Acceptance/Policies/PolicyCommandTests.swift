import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Policies that a person writes on the command line.
@Suite(.serialized) struct PolicyCommandTests {
    private func withAccount(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a_b", "axb", "c"] { server.tree.put("/Photos/\(name).jpg", name) }
                server.tree.put("/Music/song.ogg", "la la")
                try await body(server, try Account(in: folder, server))
            }
        }
    }

    private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    private func policies(_ account: Account, _ more: String...) async throws -> [String] {
        try await account.larder.run(["--json", "policy", "list"] + more).lines
    }

    @Test("P2: add, update and remove change one policy, and what they are told wrong changes none")
    func edits() async throws {
        try await withAccount { server, account in
            let add = try await must(
                account, "--json", "policy", "add", "--kind", "availableOffline", "--id", "jpegs", "--where",
                #"name.endsWith(".jpg")"#, "--description", "all pictures", "--remove-when-none", #"path == "/Photos""#)
            #expect(
                add.output
                    == #"{"id":"jpegs","kind":"availableOffline","where":"name.endsWith(\".jpg\")","#
                    + #""identifier":"jpegs","description":"all pictures","path":null,"localID":null,"#
                    + #""removeWhenNone":"path == \"/Photos\"","items":null,"bytes":null}"# + "\n")
            #expect(add.errors.isEmpty)
            _ = try await must(account, "pin", "/Music")
            let before = try await policies(account)
            #expect(before.count == 2)
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Music/song.ogg"] + ["a_b", "axb", "c"].map { "Photos/\($0).jpg" })

            let wrong: [(words: [String], code: Int32, says: String)] = [
                (["update", "nosuch", "--description", "x"], 66, "there is no policy nosuch"),
                (["remove", "nosuch"], 66, "there is no policy nosuch"),
                (["update", "jpegs", "--where", "size >"], 65, "--where: the condition has an error at column 7"),
                (["update", "jpegs", "--remove-when-none", "siz == 1"], 65, "column 1: there is no property 'siz'"),
                (["update", "jpegs", "--where", "!claimed"], 65, "column 2: a policy cannot depend on claimed"),
                (["add", "--kind", "k", "--where", "availableOffline != 'none'"], 65, "depend on availableOffline"),
                (["add", "--kind", "k", "--where", "true", "--remove-when-none", "claimed"], 65, "depend on claimed"),
                (["update", "jpegs"], 64, "no change was given"),
                (["add", "--kind", "k", "--where", "path ="], 65, "--where: the condition has an error at column 6"),
                (["add", "--kind", "k", "--where", "true", "--id", "jpegs"], 65, "there is a policy jpegs already"),
                (["add", "--kind", "k", "--where", "true", "--id", "a b"], 65, "--id"),
                (["add", "--kind", "", "--where", "true"], 64, "--kind"), (["add", "--kind", "k"], 64, "--where"),
                (["undo", "jpegs"], 64, "jpegs"), (["history", "--limit", "-1"], 64, "--limit"),
                (["redo"], 65, "there is nothing to redo"),
            ]
            let stored = try await policies(account)
            for (words, code, says) in wrong {
                let result = try await account.larder.run(["policy"] + words)
                #expect(result.exitCode == code && result.errors.contains(says), "\(words)\n\(result.summary)")
            }
            #expect(try await policies(account) == stored)

            let update = try await must(
                account, "--json", "policy", "update", "jpegs", "--where", #"name == "a_b.jpg""#, "--description", "")
            #expect(update.output.contains(#""where":"name == \"a_b.jpg\"","identifier":"jpegs","description":null"#))
            #expect(update.output.contains(#""removeWhenNone":"path == \"/Photos\"""#))
            let after = try await policies(account)
            #expect(after.count == 2 && after[1] == stored[1])
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Music/song.ogg", "Photos/a_b.jpg"])
            _ = try await must(account, "policy", "remove", "jpegs")
            #expect(try await policies(account) == [stored[1]])
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Music/song.ogg"])
        }
    }

    @Test(
        "P4, P5: internal policies are listed only when asked for; by kind and path exactly those that concern the item"
    )
    func listing() async throws {
        try await withAccount { server, account in
            let conditions = [
                ("by-folder", #"path.startsWith("/Photos/")"#), ("by-name", #"name == "a_b.jpg""#),
                ("another", #"name == "axb.jpg""#), ("_sys.hidden", "true"), ("_system", #"type == "file""#),
            ]
            for (id, condition) in conditions {
                _ = try await must(
                    account, "policy", "add", "--kind", "availableOffline", "--id", id, "--where", condition)
            }
            _ = try await must(account, "run", "--once")
            func ids(_ more: String...) async throws -> [String] {
                let lines = try await account.larder.run(["--json", "policy", "list"] + more).lines
                return lines.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
            }
            #expect(try await ids() == ["by-folder", "by-name", "another", "_system"])
            #expect(try await ids("--internal") == conditions.map(\.0))
            let concerning = ["by-folder", "by-name", "_system"]
            #expect(try await ids("--kind", "availableOffline", "--path", "/Photos/a_b.jpg") == concerning)
            #expect(try await ids("--path", "Photos/a_b.jpg", "--internal").contains("_sys.hidden"))
            #expect(try await ids("--kind", "other", "--path", "/Photos/a_b.jpg") == [])
            #expect(try await account.larder("policy", "list", "--path", "/nosuch").exitCode == 66)
        }
    }

    @Test("P2: a kind that no plugin has is stored, with a warning that names those that there are")
    func unknownKind() async throws {
        try await withAccount { server, account in
            let add = try await must(account, "policy", "add", "--kind", "availableOfline", "--where", "true")
            #expect(add.errors.contains("`availableOfline`; did you mean `availableOffline`?"), "\(add.summary)")
            #expect(try await policies(account).count == 1)
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == [])
        }
    }

    @Test("P13: each change of a policy gives one run, whatever the host did before, and in a running host too")
    func runs() async throws {
        try await withAccount { server, account in
            _ = try await must(account, "run", "--once")
            let trace = "\(account.folder)/trace"
            func triggers() async throws -> [String] {
                _ = try await must(account, "run", "--once", "--trace", trace)
                return try Files.text(trace).split(separator: "\n")
                    .filter { $0.contains("\"willEnterTrigger\"") && !$0.contains("\"phase\":") }
                    .map { $0.contains("policiesChanged") ? "policiesChanged" : "other" }
            }
            let commands = [
                ["add", "--kind", "availableOffline", "--id", "x", "--where", "false"],
                ["update", "x", "--where", "size < 0"], ["remove", "x"],
            ]
            for words in commands {
                let result = try await account.larder.run(["policy"] + words)
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(try await triggers().filter { $0 == "policiesChanged" }.count == 1, "\(words)")
                #expect(try await triggers().contains("policiesChanged") == false, "\(words)")
            }
            let fault = server.add(Fault(.hold(), method: "PROPFIND"))
            let host = try account.larder.start(["run", "--trace", trace])
            await server.untilHeld(fault)
            for words in commands {
                let result = try await account.larder.run(["policy"] + words)
                #expect(result.exitCode == 0, "\(words)\n\(result.summary)")
            }
            server.remove(fault)
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            // What a change had no run for before the host stopped has it in the next one.
            let inHost = try Files.text(trace).split(separator: "\n").count {
                $0.contains("\"willEnterTrigger\"") && !$0.contains("\"phase\":") && $0.contains("policiesChanged")
            }
            let after = try await triggers().count { $0 == "policiesChanged" }
            #expect((1...commands.count).contains(inHost + after), "\(inHost) + \(after)")
        }
    }
}
