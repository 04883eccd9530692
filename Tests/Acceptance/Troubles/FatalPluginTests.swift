import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A plugin in process that ends the host, or holds the host up.
@Suite(.serialized) struct FatalPluginTests {
    /// An account with the test plugin beside those that come with Larder, with a pinned file and a file whose name
    /// makes the plugin fail.
    private struct Fixture {
        var account: Account
        let server: TestServer
        let library: String

        init(in folder: String, _ server: TestServer) async throws {
            library = "\(folder)/fatal.so"
            self.server = server
            try await CompiledPlugin.build("fatal", to: library)
            account = try Account(in: folder, server)
            // A backtrace with symbols takes long, so backtraces are disabled.
            account.larder.environment["SWIFT_BACKTRACE"] = "enable=no"
            server.tree.put("/Some/bad", "x")
            server.tree.put("/pinned", "zero")
            #expect(try await account.larder("pin", "/pinned").exitCode == 0)
            try set("", in: "")
            // After the first run the plugin's loop is polled.
            let first = try await account.larder("run", "--once")
            #expect(first.exitCode == 0, "\(first.summary)")
            server.tree.put("/pinned", "one")
        }

        /// Sets what the plugin does from the next start on.
        func set(_ does: String, in call: String, until: String = "") throws {
            _ = try Account(
                in: account.folder, server,
                settings: [
                    "poll: 1s", "plugins:", "  org.example.fatal:", "    library: \"\(library)\"",
                    "    isolation: in-process",
                    "    settings: { does: \"\(does)\", in: \"\(call)\", until: \"\(until)\" }",
                ])
        }

        /// Makes the vault's records of such ends older by this many seconds.
        func age(by seconds: Int) async throws {
            let code = """
                import json, sqlite3, sys
                db = sqlite3.connect(sys.argv[1])
                held = json.loads(db.execute("SELECT value FROM meta WHERE key = 'heldLibraries'").fetchone()[0])
                for library in held['libraries']:
                    for end in library['ends']: end['nanoseconds'] -= \(seconds) * 10**9
                db.execute("UPDATE meta SET value = ? WHERE key = 'heldLibraries'", [json.dumps(held)])
                db.commit()
                """
            try await mustRun("python3", ["-c", code, "\(account.vault)/larder.db"])
        }

        /// Waits until the call for the item is under way.
        func untilCalled() async throws { try await untilWritten("/Some/bad", in: "\(account.vault)/plugins/calls") }

        /// Waits until the file contains the text.
        func untilWritten(_ text: String, in file: String) async throws {
            try await soon("\(text) is in \(file)") {
                try await TestSupport.run("grep", ["-a", "-q", text, file]).exitCode == 0
            }
        }

        func why() async throws -> String { try await account.larder("plugin", "why", "org.example.fatal").output }
    }

    private func withFatal(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in try await body(try await Fixture(in: folder, server)) }
        }
    }

    @Test(
        "G17: a crash names the plugin, the call and the item, and the next start leaves the library out for ten minutes",
        arguments: [
            ("crash", "perform", SIGSEGV, "crashed (SIGSEGV) in performAction of /Some/bad"),
            ("abort", "perform", SIGABRT, "crashed (SIGABRT) in performAction of /Some/bad"),
            ("overflow", "match", SIGSEGV, "crashed (SIGSEGV) in matchCondition"),
            ("crash", "start", SIGSEGV, "crashed (SIGSEGV) in start"),
            ("crash", "poll", SIGSEGV, "crashed (SIGSEGV) in poll of the loop fatal"),
        ])
    func crash(does: String, call: String, signal: Int32, said: String) async throws {
        try await withFatal { fixture in
            try fixture.set(does, in: call)
            let crashed = try await fixture.account.larder("run", "--once")
            #expect(crashed.status == .signal(signal), "\(crashed.summary)")
            #expect(crashed.errors.contains("the plugin org.example.fatal \(said)\n"), "\(crashed.summary)")
            #expect(try await fixture.why().contains("left out until 2"))

            // The other plugins go on.
            let next = try await fixture.account.larder("run", "--once")
            #expect(next.exitCode == 1 && next.errors.contains("it \(said)"), "\(next.summary)")
            #expect(try fixture.account.text("pinned") == "one")
            let list = try await fixture.account.larder("plugin", "list")
            #expect(list.output.contains("left out until") && list.output.contains(said), "\(list.summary)")

            try fixture.set("", in: "")
            #expect(try await fixture.account.larder("run", "--once").exitCode == 1)
            try await fixture.age(by: 660)
            let later = try await fixture.account.larder("run", "--once")
            #expect(later.exitCode == 0, "\(later.summary)")
        }
    }

    @Test("G17: after the third crash in a day a library is quarantined, until it is retried or has other bytes")
    func quarantine() async throws {
        try await withFatal { fixture in
            try fixture.set("crash", in: "perform")
            for _ in 0..<3 {
                let crashed = try await fixture.account.larder("run", "--once")
                #expect(crashed.status == .signal(SIGSEGV), "\(crashed.summary)")
                // The next run records what the crash left behind.
                #expect(try await fixture.account.larder("run", "--once").exitCode == 1)
                try await fixture.age(by: 660)
            }
            try await fixture.age(by: 86_400)
            let held = try await fixture.account.larder("run", "--once")
            #expect(held.exitCode == 1 && held.errors.contains("fatal is quarantined"), "\(held.summary)")
            #expect(held.errors.contains("3 times in a day"), "\(held.summary)")
            #expect(try await fixture.why().contains("org.example.fatal is quarantined"))
            let list = try await fixture.account.larder("--json", "plugin", "list")
            #expect(list.output.contains("\"state\":\"quarantined\""), "\(list.summary)")

            // A library of the same bytes under another inode stays quarantined; a library of other bytes does not.
            try fixture.set("", in: "")
            try await mustRun("cp", [fixture.library, "\(fixture.library).same"])
            try await mustRun("mv", ["\(fixture.library).same", fixture.library])
            #expect(try await fixture.account.larder("run", "--once").exitCode == 1)
            try await CompiledPlugin.build("fatal", to: "\(fixture.library).new", defines: ["BUILD=\"1.0.1\""])
            try await mustRun("cp", [fixture.library, "\(fixture.library).old"])
            try await mustRun("mv", ["\(fixture.library).new", fixture.library])
            #expect(try await fixture.account.larder("run", "--once").exitCode == 0)
            try await mustRun("mv", ["\(fixture.library).old", fixture.library])
            #expect(try await fixture.account.larder("run", "--once").exitCode == 1)

            let retry = try await fixture.account.larder("plugin", "retry", "org.example.fatal")
            #expect(retry.exitCode == 0 && retry.output.contains("is used again"), "\(retry.summary)")
            #expect(try await fixture.account.larder("run", "--once").exitCode == 0)
            #expect(try await fixture.account.larder("plugin", "retry", "org.example.nobody").exitCode == 66)
            let again = try await fixture.account.larder("plugin", "retry", "org.example.fatal")
            #expect(again.exitCode == 0 && again.output.contains("is not held"), "\(again.summary)")
        }
    }

    @Test("G17: a running host uses a library again at once when it is retried, and the account goes on")
    func retriedBesideHost() async throws {
        try await withFatal { fixture in
            let account = fixture.account
            try fixture.set("crash", in: "perform")
            #expect(try await account.larder("run", "--once").status == .signal(SIGSEGV))
            try fixture.set("", in: "")
            let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
            try await account.untilOnline(host)
            #expect(try await fixture.why().contains("left out until 2"))
            let retry = try await account.larder("plugin", "retry", "org.example.fatal")
            #expect(retry.exitCode == 0 && retry.output == "org.example.fatal is used again\n", "\(retry.summary)")
            try await soon("it is at work", beside: host, log: "\(account.folder)/log") {
                try await account.larder("--json", "plugin", "info", "org.example.fatal").output
                    .contains("\"state\":\"running\"")
            }
            fixture.server.tree.put("/pinned", "two")
            try await soon("the account goes on", beside: host, log: "\(account.folder)/log") {
                try account.text("pinned") == "two"
            }
            let again = try await account.larder("plugin", "retry", "org.example.fatal")
            #expect(again.exitCode == 0 && again.output.contains("is not held"), "\(again.summary)")
            #expect(await host.stop() == .code(0))
        }
    }

    @Test("G17: an exit in a call is exit code 70 and names the plugin", arguments: ["start", "perform", "poll"])
    func exits(call: String) async throws {
        try await withFatal { fixture in
            try fixture.set("exit", in: call)
            let ended = try await fixture.account.larder("run", "--once")
            #expect(ended.exitCode == 70, "\(ended.summary)")
            #expect(
                ended.errors.contains("the plugin org.example.fatal ended the host with exit() in"), "\(ended.summary)")
            let next = try await fixture.account.larder("run", "--once")
            #expect(next.exitCode == 1 && next.errors.contains("it ended the host with exit() in"), "\(next.summary)")
        }
    }

    @Test(
        "G17: a call that does not return is named with its item, and --timeout ends the run all the same",
        arguments: [
            ("perform", "performAction of /Some/bad"), ("poll", "poll of the loop fatal"), ("start", "start"),
        ])
    func hangs(call: String, said: String) async throws {
        try await withFatal { fixture in
            try fixture.set("hang", in: call)
            let ended = try await fixture.account.larder("run", "--once", "--timeout", "3s")
            #expect(ended.exitCode == 1, "\(ended.summary)")
            #expect(
                ended.errors.contains("the plugin org.example.fatal hangs: \(said) did not return"), "\(ended.summary)")
            let next = try await fixture.account.larder("run", "--once")
            #expect(next.exitCode == 1 && next.errors.contains("\(said) did not return"), "\(next.summary)")
            #expect(next.errors.contains("left out until"), "\(next.summary)")
            #expect(try fixture.account.text("pinned") == "one")
        }
    }

    @Test("G17: SIGTERM ends a host in spite of a call that does not return, with exit code 1")
    func hangsAtStop() async throws {
        try await withFatal { fixture in
            try fixture.set("hang", in: "perform")
            let host = try fixture.account.larder.start(["run"], errors: "\(fixture.account.folder)/log")
            try await fixture.untilCalled()
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(1))
            let log = try Files.text("\(fixture.account.folder)/log")
            #expect(log.contains("org.example.fatal hangs: performAction of /Some/bad did not return"), "\(log)")
        }
    }

    @Test("GL5: while one plugin's poll does not return, the others find and fetch what changed; the stop names it")
    func othersGoOn() async throws {
        try await withFatal { fixture in
            let begun = "\(fixture.account.folder)/until.begun"
            // The plugin is built with a loop only. Processors run one after the other, so the others would wait for a
            // processor of this plugin, which does not return while its poll hangs.
            try await CompiledPlugin.build("fatal", to: fixture.library, defines: ["LOOP_ONLY=1"])
            try fixture.set("hang", in: "poll", until: "\(fixture.account.folder)/until")
            let host = try fixture.account.larder.start(["run"], errors: "\(fixture.account.folder)/log")
            try await fixture.untilWritten("begun", in: begun)
            for content in ["two", "three"] {
                fixture.server.tree.put("/pinned", content)
                try await fixture.untilWritten(content, in: "\(fixture.account.files)/pinned")
            }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(1))
            let log = try Files.text("\(fixture.account.folder)/log")
            #expect(log.contains("org.example.fatal hangs: poll of the loop fatal did not return"), "\(log)")
        }
    }

    @Test("G17: rows that are lent to a call stay as they are while it hangs and the database is written")
    func lentRows() async throws {
        try await withFatal { fixture in
            let answer = "\(fixture.account.folder)/until"
            try fixture.set("hang", in: "perform", until: answer)
            let host = try fixture.account.larder.start(["run"])
            try await fixture.untilCalled()
            fixture.server.tree.remove("/Some/bad")
            fixture.server.tree.put("/new", "x")
            // A new item is known before the scan's end, which decides about a missing one.
            try await soon("both changes are known", beside: host) {
                let list = try await fixture.account.larder("ls", "-r", "/").output
                return list.contains("new") && !list.contains("bad")
            }
            try Files.write("", to: answer)
            try await soon("it has answered") { try !Files.text(answer).isEmpty }
            #expect(try Files.text(answer) == "as it was")
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    @Test("G17, G41: what was under way when the host was killed is named, and holds nothing the first time")
    func killed() async throws {
        try await withFatal { fixture in
            try fixture.set("be killed", in: "perform")
            #expect(try await fixture.account.larder("run", "--once").status == .signal(SIGKILL))
            try fixture.set("", in: "")
            let next = try await fixture.account.larder("run", "--once")
            #expect(next.exitCode == 0, "\(next.summary)")
            let said = "the host ended without a word in performAction of /Some/bad"
            #expect(next.errors.contains(said), "\(next.summary)")
            #expect(try await fixture.why().contains(said))
            // An orderly end is nobody's.
            let later = try await fixture.account.larder("run", "--once")
            #expect(later.exitCode == 0 && !later.errors.contains(said), "\(later.summary)")
        }
    }

    @Test("G18: a crash leaves a trace whose last line is the call that did not end")
    func trace() async throws {
        try await withFatal { fixture in
            try fixture.set("crash", in: "perform")
            let trace = "\(fixture.account.folder)/trace"
            #expect(try await fixture.account.larder("run", "--once", "--trace", trace).status == .signal(SIGSEGV))
            let lines = try Files.text(trace).split(separator: "\n").filter { $0.contains("org.example.fatal") }
            let last = try #require(lines.last)
            #expect(last.contains(#""call":"performAction""#) && last.contains(#""path":"/Some/bad""#), "\(last)")
            #expect(last.contains(#""phase":"begin""#) && !last.contains("status"), "\(last)")
        }
    }
}
