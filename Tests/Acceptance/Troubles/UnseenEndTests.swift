import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A plugin in process that ends the host, or keeps it from ending, where no handler sees it.
@Suite(.serialized) struct UnseenEndTests {
    private let plugin = "org.example.fatal"

    /// Runs the body with an account that has the plugin, and a file whose name makes the plugin act.
    private func withFatal(
        _ does: String, in call: String, defines: [String] = [], _ body: (Account, TestServer) async throws -> Void
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                try await CompiledPlugin.build("fatal", to: "\(folder)/fatal.so", defines: defines)
                server.tree.put("/Some/bad", "x")
                server.tree.put("/pinned", "zero")
                var account = try Account(in: folder, server, settings: settings(folder, does, call))
                account.larder.environment["SWIFT_BACKTRACE"] = "enable=no"
                try await body(account, server)
            }
        }
    }

    private func settings(_ folder: String, _ does: String, _ call: String) -> [String] {
        [
            "poll: 1s", "plugins:", "  \(plugin):", "    library: \"\(folder)/fatal.so\"", "    isolation: in-process",
            "    settings: { does: \"\(does)\", in: \"\(call)\" }",
        ]
    }

    @Test("G41: a host that vanishes in a call names plugin, call and item, and the third time quarantines the library")
    func vanishes() async throws {
        try await withFatal("_exit", in: "perform") { account, _ in
            let said = "the host ended without a word in performAction of /Some/bad"
            for count in 1...3 {
                let ended = try await account.larder("run", "--once")
                #expect(ended.exitCode == 0 && ended.errors.contains(said) == (count > 1), "\(ended.summary)")
                let why = try await account.larder("plugin", "why", plugin).output
                #expect(why.contains(said) && why.contains("is \(count < 3 ? "ready" : "quarantined")"), "\(why)")
            }
            let held = try await account.larder("run", "--once")
            #expect(held.exitCode == 1 && held.errors.contains("fatal is quarantined"), "\(held.summary)")
            #expect(held.errors.contains("3 times in a day"), "\(held.summary)")
        }
    }

    @Test(
        "G41: a crash behind a handler that was taken away, and closed descriptors, are named and counted",
        arguments: [
            ("unhandle and crash", "the host ended without a word in performAction of /Some/bad"),
            ("close", "it closed the host's descriptors in performAction of /Some/bad"),
            ("close standard input", "it closed the host's descriptors in performAction of /Some/bad"),
            ("close a poll", "it closed the host's descriptors in performAction of /Some/bad"),
            ("close the last poll", "it closed the host's descriptors in performAction of /Some/bad"),
            ("close an event", "it closed the host's descriptors in performAction of /Some/bad"),
        ])
    func blind(does: String, said: String) async throws {
        try await withFatal(does, in: "perform") { account, _ in
            let ended = try await account.larder("run", "--once")
            let closes = does.hasPrefix("close")
            #expect(ended.status == (closes ? .code(70) : .signal(SIGSEGV)), "\(ended.summary)")
            #expect(ended.errors.contains("closed the host's descriptors in performAction") == closes)
            #expect(try await account.larder("plugin", "why", plugin).output.contains(said))
            let next = try await account.larder("run", "--once")
            #expect(next.errors.contains(said), "\(next.summary)")
        }
    }

    @Test(
        "G41: exit handlers of a library never run, and the signal of a timer ends no host",
        arguments: ["hang at exit", "crash at exit", "get alarm"])
    func survives(does: String) async throws {
        try await withFatal(does, in: "start") { account, _ in
            let ended = try await account.larder("run", "--once", "--timeout", "60s")
            #expect(ended.exitCode == 0, "\(ended.summary)")
        }
    }

    @Test("G41: SIGTERM ends a host although a plugin ignored it; the plugin is named")
    func ignored() async throws {
        try await withFatal("ignore", in: "perform") { account, _ in
            let log = "\(account.folder)/log"
            let host = try account.larder.start(["run"], errors: log)
            let said = "performAction of /Some/bad changed what the host does at SIGTERM; it was put back"
            try await soon("it is named", beside: host, log: log) { try Files.text(log).contains(said) }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(0))
        }
    }

    @Test("G41: SIGTERM ends a host although a thread of a plugin's own has ignored it while no call was under way")
    func ignoredBetweenCalls() async throws {
        try await withFatal("ignore between calls", in: "start") { account, _ in
            let log = "\(account.folder)/log"
            let host = try account.larder.start(["run"], errors: log)
            try await soon("the host heeds it again", beside: host, log: log) {
                try Files.text(log).contains("has taken signal 15 from the host")
            }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(0))
        }
    }

    @Test(
        "G41: a forked host that comes back, or asks the host for something, is ended and named; others are their own",
        arguments: ["fork", "fork and ask", "fork and exit", "fork and exec"])
    func forks(does: String) async throws {
        try await withFatal(does, in: "perform") { account, server in
            let run = try await account.larder("run", "--once")
            let isNamed = does == "fork" || does == "fork and ask"
            let said = "the plugin \(plugin) forked the host, and the copy was ended when it came back,"
            #expect(run.errors.contains("\(said) in performAction of /Some/bad") == isNamed, "\(run.summary)")
            #expect(run.exitCode == (isNamed ? 1 : 0), "\(run.summary)")
            #expect(!run.errors.contains("with exit()"), "\(run.summary)")
            let next = try await account.larder("run", "--once")
            #expect(next.exitCode == (isNamed ? 1 : 0), "\(next.summary)")
            #expect(next.errors.contains("it forked the host in performAction of /Some/bad") == isNamed)
        }
    }

    @Test("G41: a fork that comes back during a later call is named by the call in which it was made")
    func lateFork() async throws {
        try await withFatal("fork late", in: "perform") { account, _ in
            let run = try await account.larder("run", "--once")
            let said = "the plugin \(plugin) forked the host, and the copy was ended when it came back,"
            #expect(run.errors.contains("\(said) in performAction of /Some/bad"), "\(run.summary)")
            #expect(run.errors.contains("performAction of /Some/bad forked the host, and the copy came back"))
            #expect(run.exitCode == 1, "\(run.summary)")
            let next = try await account.larder("run", "--once")
            #expect(next.errors.contains("it forked the host in performAction of /Some/bad"), "\(next.summary)")
        }
    }

    @Test("G41: a fork in a library's constructor is ended and named, and the host goes on")
    func forkAtOpening() async throws {
        try await withFatal("", in: "", defines: ["FORK_AT_OPENING"]) { account, _ in
            let run = try await account.larder("run", "--once")
            let said = "fatal.so forked the host when it was opened, and the copy was ended when it came back"
            #expect(run.exitCode == 0 && run.errors.contains(said), "\(run.summary)")
            #expect(try await account.larder("plugin", "why", plugin).output.contains("is ready"))
        }
    }

    @Test("G41: a limit that a call lowers is put back, and the call is named")
    func lowersLimit() async throws {
        try await withFatal("lower a limit", in: "perform") { account, _ in
            let run = try await account.larder("run", "--once")
            let said = "performAction of /Some/bad changed the limits of the host (RLIMIT_NOFILE); it was put back"
            #expect(run.errors.contains(said), "\(run.summary)")
            #expect(!run.errors.contains("Raise the limit") && !run.errors.contains("Check the limits"))
            #expect(run.exitCode == 1, "\(run.summary)")
        }
    }

    @Test("G17: what one account's item did to the host leaves the plugin out there alone; the others go on at once")
    func otherAccounts() async throws {
        try await SeveralAccounts.running(["a", "b"]) { accounts in
            try await CompiledPlugin.build("fatal", to: "\(accounts.folder)/fatal.so")
            var larder = accounts.larder
            larder.environment["SWIFT_BACKTRACE"] = "enable=no"
            try accounts.write(["a", "b"], settings: Array(settings(accounts.folder, "crash", "perform").dropFirst()))
            accounts["a"].tree.put("/Some/bad", "x")
            accounts["b"].tree.put("/good", "x")
            #expect(try await larder("run", "--once").status == .signal(SIGSEGV))
            let trace = "\(accounts.folder)/trace"
            let next = try await larder("run", "--once", "--trace", trace)
            #expect(next.exitCode == 1 && next.errors.contains("performAction of /Some/bad"), "\(next.summary)")
            let refused = next.errors.split(separator: "\n").filter { $0.contains("is refused: left out until") }
            #expect(refused.count { $0.contains("account=a") } == 1 && !refused.contains { $0.contains("account=b") })
            let calls = try Files.text(trace).split(separator: "\n").filter { $0.contains(plugin) }
            #expect(calls.contains { $0.contains("performAction") && $0.contains("\"/good\"") }, "\(calls)")
            #expect(try await larder("--account", "b", "plugin", "why", plugin).output.contains("is ready"))
            #expect(try await larder("--account", "a", "plugin", "why", plugin).output.contains("left out until"))
        }
    }

    @Test("G41: a full disk behind the results makes the exit code, and so does a reader that is gone")
    func lostResults() async throws {
        try await withFatal("hang at exit", in: "start") { account, _ in
            let larder = "'\(try Build.larder)' --config '\(account.folder)/config.yaml' plugin list"
            let full = try await TestSupport.run("sh", ["-c", "\(larder) > /dev/full"])
            #expect(full.exitCode == 74 && full.errors.contains("the output cannot be written"), "\(full.errors)")
            let intoNothing =
                "import os, subprocess, sys; r, w = os.pipe(); os.close(r); "
                + "sys.exit(subprocess.call(sys.argv[1], shell=True, stdout=w, restore_signals=False))"
            let gone = try await TestSupport.run("python3", ["-c", intoNothing, larder])
            #expect(gone.exitCode == 74, "\(gone.summary)")
        }
    }
}
