import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder run` as a service. A socket of the test's own stands for the service manager.
@Suite(.serialized) struct ServiceTests {
    /// Starts the host of an account for a service manager.
    private func start(
        _ account: Account, _ receiver: NotifyReceiver, watchdog: Duration? = nil
    ) throws -> (host: ChildProcess, log: String) {
        var larder = account.larder
        larder.environment["NOTIFY_SOCKET"] = receiver.address
        if let watchdog {
            larder.environment["WATCHDOG_USEC"] = "\(watchdog.components.attoseconds / 1_000_000_000_000)"
        }
        let log = "\(account.folder)/log"
        return (try larder.start(["run"], errors: log), log)
    }

    @Test(
        "H10, H2: a host says that it is ready, what it does, that it lives, and that it stops", arguments: ["@", ""])
    func notices(kind: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                let receiver = try NotifyReceiver("\(kind)\(folder)/notify")
                let (host, log) = try start(account, receiver, watchdog: .milliseconds(400))
                try await soon("it is ready", beside: host, log: log) { receiver.count("READY=1") == 1 }
                try await soon("it is online", beside: host, log: log) { receiver.status == "home: online" }
                let signs = receiver.count("WATCHDOG=1")
                try await soon("it lives", beside: host, log: log) { receiver.count("WATCHDOG=1") >= signs + 3 }
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(60)) == .code(0))
                #expect(receiver.count("STOPPING=1") == 1 && receiver.count("READY=1") == 1)
                #expect(receiver.lines.first { !$0.hasPrefix("STATUS=") && $0 != "WATCHDOG=1" } == "READY=1")
            }
        }
    }

    @Test("H10: a host that starts without a network is ready, lists what is known, and goes on when the network comes")
    func withoutNetwork() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            let first = try await TestServer.start(configuration)
            first.tree.put("/known", "one")
            let account = try Account(in: folder, first, settings: ["poll: 1s"])
            #expect(try await account.larder("pin", "/").exitCode == 0)
            #expect(try await account.larder("run", "--once").exitCode == 0)
            configuration.port = first.port
            await first.stop()

            let receiver = try NotifyReceiver("\(folder)/notify")
            let (host, log) = try start(account, receiver)
            try await soon("it is ready", beside: host, log: log) { receiver.count("READY=1") == 1 }
            try await soon("it says so", beside: host, log: log) { receiver.status == "home: offline" }
            #expect(try await account.larder("ls", "/").output.contains("known"))
            let second = try await TestServer.start(configuration)
            second.tree.put("/known", "one")
            second.tree.put("/new", "two")
            try await soon("it goes on", beside: host, log: log) { try account.text("new") == "two" }
            try await soon("it says so", beside: host, log: log) { receiver.status == "home: online" }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            await second.stop()
        }
    }

    @Test("H10: while a call into a plugin does not return, the host gives its signs of life")
    func hangingPlugin() async throws {
        try await withHangingPlugin { account in
            let receiver = try NotifyReceiver("\(account.folder)/notify")
            let (host, log) = try start(account, receiver, watchdog: .milliseconds(200))
            let calls = "\(account.vault)/plugins/calls"
            try await soon("the call is under way", beside: host, log: log) {
                try Files.exists(calls) && Files.text(calls).contains("/Some/bad")
            }
            let signs = receiver.count("WATCHDOG=1")
            try await soon("it lives", beside: host, log: log) { receiver.count("WATCHDOG=1") >= signs + 5 }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(1))
            #expect(try Files.text(log).contains("org.example.fatal hangs"))
        }
    }

    @Test("H10, H2: a stop that takes longer than shutdown-timeout ends the process, which says so")
    func shutdownTimeout() async throws {
        try await withHangingPlugin(settings: ["shutdown-timeout: 1s"]) { account in
            let receiver = try NotifyReceiver("\(account.folder)/notify")
            let (host, log) = try start(account, receiver)
            let calls = "\(account.vault)/plugins/calls"
            try await soon("the call is under way", beside: host, log: log) {
                try Files.exists(calls) && Files.text(calls).contains("/Some/bad")
            }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(25)) == .code(1))
            let text = try Files.text(log)
            #expect(text.contains("shutting down took longer than 1s"), "\(text)")
            #expect(receiver.count("STOPPING=1") == 1)
        }
    }

    @Test("H10: the service manager's variables are not passed on to a child")
    func children() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server)
                let (config, note) = (account.larder.config, "\(folder)/environment")
                let command = "{ command: [sh, -c, \"env >>'\(note)'; cat '\(folder)/password'\"] }"
                try Files.write(
                    try Files.text(config).replacing("{ file: \"\(folder)/password\" }", with: command), to: config,
                    mode: 0o600)
                let receiver = try NotifyReceiver("\(folder)/notify")
                let (host, log) = try start(account, receiver, watchdog: .milliseconds(900))
                try await account.untilOnline(host, log: log)
                let environment = try Files.text(note)
                #expect(environment.contains("HOME=") && !environment.contains("NOTIFY_SOCKET"), "\(environment)")
                #expect(!environment.contains("WATCHDOG"))
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            }
        }
    }

    /// An account whose host calls a plugin that does not return.
    private func withHangingPlugin(
        settings: [String] = [], _ body: (Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/Some/bad", "x")
                let library = "\(folder)/fatal.so"
                try await CompiledPlugin.build("fatal", to: library)
                let account = try Account(
                    in: folder, server,
                    settings: settings + [
                        "plugins:", "  org.example.fatal:", "    library: \"\(library)\"",
                        "    isolation: in-process", "    settings: { does: hang, in: perform, until: \"\" }",
                    ])
                try await body(account)
            }
        }
    }
}
