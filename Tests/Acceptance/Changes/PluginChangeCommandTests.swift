import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// A plugin in C that changes the server, in hosts as a person runs them.
@Suite(.serialized) struct PluginChangeCommandTests {
    private struct Fixture {
        let folder: String
        let account: Account

        /// Compiles the plugin and makes an account's config that names it.
        init(
            in folder: String, grant: String = "grant: [server-changes],", deletes: String = "",
            settings: [String] = [],
            account: (String, [String]) throws -> Account
        ) async throws {
            self.folder = folder
            try await CompiledPlugin.build("changer", to: "\(folder)/changer.so")
            self.account = try account(
                folder, Self.config(folder, grant: grant, deletes: deletes) + settings)
        }

        static func config(_ folder: String, grant: String, deletes: String = "") -> [String] {
            [
                "plugins:",
                "  org.example.changer: { library: \"\(folder)/changer.so\", isolation: in-process, \(grant) "
                    + "settings: { script: \"\(folder)/script\", deletes: '\(deletes)', triggers: '2' } }",
            ]
        }

        func script(_ lines: String...) throws {
            try Files.write(lines.map { $0 + "\n" }.joined(), to: "\(folder)/script")
            Files.remove("\(folder)/script.out")
        }

        func said() throws -> [String] {
            Files.exists("\(folder)/script.out")
                ? try Files.text("\(folder)/script.out").split(separator: "\n").map(String.init) : []
        }

        @discardableResult
        func expect(_ code: Int32 = 0, _ words: String...) async throws -> ProcessResult {
            let result = try await account.larder.run(words)
            #expect(result.exitCode == code, "\(words): \(result.summary)")
            return result
        }

        func snapshots() throws -> [String] { try Files.names(in: "\(account.vault)/outgoing") }

        func issue() async throws -> String {
            let line = try await expect(0, "issue", "list").lines.first { $0.contains("plugin.deletions") }
            return try #require(line?.split(separator: " ").first.map(String.init), "no issue")
        }
    }

    @Test(
        "G20 G22: each change that a plugin asks for is made on a server, in order and once, and names the plugin",
        arguments: [RealServer.Program.apache, .nginx])
    func each(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("one", to: "\(data)/a/one.txt")
            try Files.write("two", to: "\(data)/a/sub/two.txt")
            try Files.write("three", to: "\(data)/b/three.txt")
            try await withServer(program, data: data, options: Account.withLogin) { server in
                try await server.handOverData()
                let fixture = try await Fixture(in: folder) { try Account(in: $0, server, settings: $1) }
                try await fixture.expect(0, "run", "--once")
                try await fixture.expect(0, "get", "/a/one.txt")
                // A folder of nginx may hold names that no listing shows.
                let deleted = program == .nginx ? "/a/sub/two.txt" : "/a/sub"
                try fixture.script(
                    "write list.csv what_the_plugin_made", "mkdir /new - 1", "move /a/one.txt /new/uno.txt 2",
                    "copy /b /new/b 3", "delete \(deleted) - 4", "upload list.csv /new/list.csv 5",
                    "write list.csv changed_since")
                // Without a server the requests wait.
                try await fixture.expect(0, "policy", "run")
                #expect(
                    try fixture.said().dropFirst() == [
                        "mkdir 0", "move 0", "copy 0", "delete 0", "upload 0", "write 0",
                    ])
                let records = try await fixture.expect(0, "--json", "sync", "list").lines
                #expect(records.count == 5 && records.allSatisfy { $0.contains(#""reason":"org.example.changer""#) })
                #expect(try fixture.snapshots().count == 1)
                // The same keys ask for nothing more.
                try await fixture.expect(0, "policy", "run")
                #expect(try await fixture.expect(0, "--json", "sync", "list").lines == records)
                #expect(try fixture.snapshots().count == 1)
                Files.remove("\(folder)/script")
                try await fixture.expect(0, "run", "--once")

                #expect(try Files.text("\(data)/new/uno.txt") == "one" && !Files.exists("\(data)/a/one.txt"))
                #expect(try Files.text("\(data)/new/b/three.txt") == "three" && Files.exists("\(data)/b/three.txt"))
                #expect(!Files.exists("\(data)\(deleted)") && Files.exists("\(data)/a"))
                #expect(try Files.text("\(data)/new/list.csv") == "what_the_plugin_made")
                // The copies followed, and the uploaded file is here too.
                #expect(try fixture.account.text("new/uno.txt") == "one" && fixture.account.text("a/one.txt") == nil)
                #expect(try fixture.account.text("new/list.csv") == "what_the_plugin_made")
                let stat = try await fixture.expect(0, "--json", "stat", "/new/list.csv").output
                #expect(stat.contains(#""downloadTrigger":"org.example.changer""#), "\(stat)")
                #expect(try await fixture.expect(0, "sync", "list").lines == [])
                #expect(try fixture.snapshots() == [])

                // Done changes are impossible a second time, which is no failure of the run. Another version replaces
                // the file only if the plugin says so.
                try fixture.script(
                    "mkdir /new - 1", "copy /b /new/b 3", "upload list.csv /new/list.csv 6",
                    "favorite /new/uno.txt 1 7", "move /b /new/b 8", "upload list.csv /nowhere/list.csv 9")
                let again = try await fixture.expect(0, "run", "--once")
                #expect(again.errors.contains("5 refused changes of the server"), "\(again.errors)")
                #expect(again.errors.contains("copy of /b to /new/b was refused: /new/b exists already"))
                #expect(try Files.text("\(data)/new/list.csv") == "what_the_plugin_made")
                try fixture.script("upload list.csv /new/list.csv 6 1")
                try await fixture.expect(0, "run", "--once")
                #expect(try Files.text("\(data)/new/list.csv") == "changed_since")
                #expect(try fixture.account.text("new/list.csv") == "changed_since" && fixture.snapshots() == [])
            }
        }
    }

    @Test("G20 G11: without the grant nothing changes; the list says who has it, and a reload gives it")
    func grant() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let fixture = try await Fixture(in: folder, grant: "", settings: ["poll: 1s"]) {
                    try Account(in: $0, server, settings: $1)
                }
                try fixture.script("mkdir /new - 1", "delete /a - 2", "upload list.csv /b 3")
                let once = try await fixture.expect(0, "run", "--once")
                #expect(try fixture.said() == ["mkdir -6", "delete -6", "upload -6"])
                #expect(once.errors.split(separator: "\n").count { $0.contains("grant: [server-changes]") } == 1)
                let info = try await fixture.expect(0, "--json", "plugin", "info", "org.example.changer").output
                #expect(info.contains(#""grants":[]"#), "\(info)")

                let log = "\(folder)/log"
                let host = try fixture.account.larder.start(["run"], errors: log)
                try await fixture.account.untilOnline(host, log: log)
                let config = "\(folder)/config.yaml"
                try Files.write(
                    try Files.text(config).replacing(
                        "isolation: in-process,", with: "isolation: in-process, grant: [server-changes],"),
                    to: config, mode: 0o600)
                try fixture.script("move /a /moved 1")
                try await fixture.expect(0, "reload")
                try await soon("it is moved", beside: host, log: log) { server.count("MOVE") == 1 }
                let granted = try await fixture.expect(0, "--json", "plugin", "info", "org.example.changer").output
                #expect(granted.contains(#""grants":["server-changes"]"#), "\(granted)")
                let list = try await fixture.expect(0, "plugin", "list").lines
                #expect(list.filter { $0.contains("server-changes") }.count == 1, "\(list)")
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }

    @Test("G20: in a running host the copies follow what a plugin moves")
    func running() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a/one", "one")
                let fixture = try await Fixture(in: folder, settings: ["poll: 1h", "walk: 1h"]) {
                    try Account(in: $0, server, settings: $1)
                }
                try await fixture.expect(0, "run", "--once")
                try await fixture.expect(0, "get", "/a/one")
                try fixture.script("move /a /moved 1")
                // No scan follows a move that waits.
                let locked = server.add(Fault(.status(423), method: "MOVE"))
                let log = "\(folder)/log"
                let host = try fixture.account.larder.start(["run"], errors: log)
                try await soon("it is moved here", beside: host, log: log) {
                    try fixture.account.text("moved/one") == "one" && fixture.account.text("a/one") == nil
                }
                try await soon("it was tried", beside: host, log: log) { server.count("MOVE") == 1 }
                server.remove(locked)
                let record = try await fixture.expect(0, "--json", "sync", "list").output.firstMatch(of: /"id":(\d+)/)
                try await fixture.expect(0, "sync", "retry", String(record?.1 ?? ""))
                try await soon("it is moved there", beside: host, log: log) { server.tree.paths.contains("/moved/one") }
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }

    @Test("P54 G20: a dry run tells each change, and leaves journal, snapshots and server as they are")
    func dryRun() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let fixture = try await Fixture(in: folder) { try Account(in: $0, server, settings: $1) }
                try fixture.script("write list.csv text")
                try await fixture.expect(0, "run", "--once")
                try fixture.script(
                    "mkdir /new - 1", "move /a /b 2", "copy /a /c 3", "delete /a - 4", "favorite /a 1 5",
                    "upload list.csv /d 6", "upload none /e 7")
                server.forgetRequests()
                let told = try await fixture.expect(0, "--json", "policy", "run", "--dry-run").lines
                let expected = [
                    #""/new","would":"createFolder""#, #""/a","would":"move","target":"/b""#,
                    #""/a","would":"copy","target":"/c""#, #""/a","would":"delete""#,
                    #""/a","would":"setFavorite""#, #""/d","would":"upload""#,
                ]
                let head = #"{"plugin":"org.example.changer","call":"willEnterTrigger","path":"#
                #expect(told.filter { $0.contains("changer") } == expected.map { head + $0 + "}" }, "\(told)")
                #expect(try fixture.said().suffix(2) == ["upload 0", "upload -3"])
                let lines = try await fixture.expect(0, "policy", "run", "--dry-run").lines
                #expect(lines.contains { $0.hasSuffix("move             /a to /b") }, "\(lines)")
                #expect(try await fixture.expect(0, "sync", "list").lines == [])
                #expect(try fixture.snapshots() == [] && server.count() == 0)
                #expect(try await fixture.expect(0, "ls", "/").lines.count == 1)
            }
        }
    }

    @Test("G21: a plugin's many deletions wait for a person: rejected nothing goes, approved all of it does")
    func guarded() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for number in 0..<30 { server.tree.put("/d/\(100 + number)", "text") }
                for number in 0..<10 { server.tree.put("/kept/\(number)", "text") }
                let fixture = try await Fixture(in: folder, deletes: "path.startsWith(\"/d/\")") {
                    try Account(in: $0, server, settings: $1)
                }
                let first = try await fixture.expect(1, "run", "--once")
                #expect(
                    (first.errors + first.output).contains(
                        "The plugin org.example.changer wants to delete 30 of 42 items on the server"),
                    "\(first.summary)")
                #expect(server.count("DELETE") == 0)
                try await fixture.expect(0, "issue", "resolve", try await fixture.issue(), "reject")
                #expect(try await fixture.expect(0, "ls", "/d").lines.count == 30)
                #expect(try await fixture.expect(0, "sync", "list").lines == [])
                // It asks again, and no smaller number goes unasked.
                try await fixture.expect(1, "run", "--once")
                #expect(server.count("DELETE") == 0)
                try await fixture.expect(0, "issue", "resolve", try await fixture.issue(), "approve")
                try await fixture.expect(0, "run", "--once")
                #expect(server.count("DELETE") == 30)
                #expect(server.tree.paths.filter { $0.hasPrefix("/d/") && $0 != "/d/" } == [])
                #expect(try await fixture.expect(0, "issue", "list").lines == [])
            }
        }
    }

    @Test("G20 G22: after a kill between a plugin's call and the record the next run asks again, and each is made once")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                server.tree.put("/b", "two")
                let fixture = try await Fixture(in: folder) { try Account(in: $0, server, settings: $1) }
                try fixture.script(
                    "write list.csv text", "mkdir /new - 1", "move /a /new/a 2", "delete /b - 3",
                    "upload list.csv /new/list.csv 4")
                try Files.write("", to: "\(folder)/script.die")
                let killed = try await fixture.account.larder("run", "--once")
                #expect(killed.status == .signal(SIGKILL), "\(killed.summary)")
                #expect(try fixture.said() == ["write 0", "mkdir 0", "move 0", "delete 0", "upload 0"])
                #expect(try await fixture.expect(0, "sync", "list").lines == [])
                #expect(server.tree.paths.sorted() == ["/a", "/b"])
                Files.remove("\(folder)/script.die")
                _ = try await fixture.account.larder("run", "--once")
                #expect(server.tree.paths.contains("/new/a") && server.tree.paths.contains("/new/list.csv"))
                #expect(!server.tree.paths.contains("/a") && !server.tree.paths.contains("/b"))
                for method in ["MKCOL", "MOVE", "DELETE", "PUT"] { #expect(server.count(method) == 1, "\(method)") }
                #expect(try fixture.snapshots() == [] && fixture.account.text("new/list.csv") == "text")
            }
        }
    }

    @Test("G21: with `removal-guard: off` a plugin's deletions are made at once")
    func unguarded() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for number in 0..<30 { server.tree.put("/d/\(100 + number)", "text") }
                let deletes = "path.startsWith(\"/d/\")"
                let fixture = try await Fixture(in: folder, deletes: deletes, settings: ["removal-guard: off"]) {
                    try Account(in: $0, server, settings: $1)
                }
                try await fixture.expect(0, "run", "--once")
                #expect(server.count("DELETE") == 30)
            }
        }
    }

    @Test("G22: no more uploads than the host holds at a time are taken, and those are made")
    func manyUploads() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let fixture = try await Fixture(in: folder) { try Account(in: $0, server, settings: $1) }
                let uploads = (0..<103).map { "upload list.csv /\($0) \($0)\n" }
                try fixture.script("write list.csv text\n" + uploads.joined())
                try await fixture.expect(0, "run", "--once")
                let expected = ["write 0"] + Array(repeating: "upload 0", count: 100)
                #expect(try fixture.said() == expected + Array(repeating: "upload -8", count: 3))
                #expect(server.count("PUT") == 100 && server.tree.paths.count == 100)
                #expect(try fixture.snapshots() == [])
            }
        }
    }

    @Test("G22: what is no file of the plugin's own is not uploaded, and leaves no snapshot")
    func foreign() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("secret", to: "\(folder)/secret")
            try Files.makeFolder("\(folder)/outside")
            try Files.write("secret", to: "\(folder)/outside/secret")
            try await TestServer.running { server in
                let fixture = try await Fixture(in: folder) { try Account(in: $0, server, settings: $1) }
                try fixture.script(
                    "write list.csv text", "link link \(folder)/secret", "link out \(folder)/outside",
                    "link in list.csv", "upload link /x 1", "upload out/secret /x 2", "upload in /x 3",
                    "upload ../project.json /x 4", "upload \(folder)/secret /x 5", "upload none /x 6",
                    "upload none/none /x 7", "upload list.csv/x /x 8", "upload . /x 9", "upload-of-none list.csv /x 10",
                    "upload list.csv x 11", "upload list.csv /x - 0", "upload list.csv /x 12 2", "upload list.csv / 13")
                try await fixture.expect(0, "run", "--once")
                #expect(
                    try fixture.said() == [
                        "write 0", "link 0", "link 0", "link 0", "upload -6", "upload -6", "upload -6", "upload -2",
                        "upload -2", "upload -3", "upload -3", "upload -3", "upload -2", "upload-of-none -3",
                        "upload -2", "upload -2", "upload -2", "upload 0",
                    ])
                #expect(server.count("PUT") == 0 && server.tree.paths.filter { $0 != "/" } == [])
                #expect(try fixture.snapshots() == [])
            }
        }
    }
}
