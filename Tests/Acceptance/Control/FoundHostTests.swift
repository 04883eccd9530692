import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A running host that is found, asked and told although what leads to it is gone, or its account is not open yet.
@Suite(.serialized) struct FoundHostTests {
    @Test("H9, V1: a host whose socket or vault's lock is gone is found; a vault that is away is begun anew by nobody")
    func found() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                let (elsewhere, log) = ("\(folder)/elsewhere", "\(folder)/log")
                let host = try account.larder.start(["run"], errors: log)
                let socket = try await account.untilCommanded(host)
                try await account.untilOnline(host, log: log)

                // The runtime folder goes with a person's last login.
                Files.remove("\(account.larder.home)/larder")
                let pinned = try await account.larder("pin", "/")
                #expect(pinned.exitCode == 0, "\(pinned.summary)")
                let next = try #require(account.socket)
                #expect(next != socket && Files.exists(next))
                try await soon("it is fetched", beside: host, log: log) { try account.text("a") == "one" }
                if Build.isRoot {
                    // Somebody else, for whom all modes were opened, is told what is the matter.
                    var stranger = account.larder
                    stranger.unprivileged = true
                    for path in [folder, stranger.home, "\(stranger.home)/larder", account.vault] {
                        try await mustRun("chmod", ["a+rx", path])
                    }
                    try await mustRun("chmod", ["a+r", stranger.config, "\(account.vault)/lock"])
                    try await mustRun("chmod", ["a+rw", next])
                    for command in [["healthcheck"], ["pin", "/"], ["wait"]] {
                        let said = try await stranger.run(command)
                        #expect(
                            said.exitCode == 77 && said.errors.contains("another user"), "\(command) \(said.summary)")
                    }
                }

                Files.remove("\(account.vault)/lock")
                try await soon("the lock is made anew", beside: host, log: log) {
                    Files.exists("\(account.vault)/lock")
                }
                let well = try await account.larder("healthcheck")
                #expect(well.exitCode == 0, "\(well.summary)")
                #expect(try await account.larder("unpin", "/").exitCode == 0)
                #expect(try await account.larder("pause").exitCode == 0)
                #expect(try await account.larder("resume").exitCode == 0)

                // The disk with the vault goes.
                try await mustRun("mv", [account.vault, elsewhere])
                try Files.makeFolder(account.vault)
                #expect(try await account.larder("healthcheck").exitCode == 74)
                try await soon("the host notices it", beside: host, log: log) {
                    try Files.text(log).contains("was used before")
                }
                for command in [["pin", "/"], ["reload"], ["get", "/a"]] {
                    let said = try await account.larder.run(command)
                    #expect(said.exitCode == (command == ["reload"] ? 0 : 74), "\(command) \(said.summary)")
                }
                // Somebody begins another vault in its place, from where nothing is known of the first.
                Files.remove(account.vault)
                var other = account.larder
                other.environment["XDG_STATE_HOME"] = "\(folder)/state"
                other.environment["XDG_RUNTIME_DIR"] = "\(folder)/runtime"
                try Files.makeFolder("\(folder)/runtime")
                #expect(try await other.run(["pin", "/b"]).exitCode == 0)
                try await soon("the host does not take it", beside: host, log: log) {
                    try Files.text(log).contains("is another one than before")
                }
                #expect(try await account.larder.run(["healthcheck"]).exitCode == 74)
                // Nor after a reload that has the account opened anew.
                let shown = try Files.text(account.larder.config)
                for change in ["vacuum: { after: 61s }", "vacuum: { after: 62s }"] {
                    try Files.write("\(shown)plugins: { \(change) }\n", to: account.larder.config, mode: 0o600)
                    let reload = try await account.larder.run(["reload"])
                    #expect(
                        reload.output.contains("restarted") && reload.errors.contains("is another one than before"),
                        "\(reload.summary)")
                    #expect(try await account.larder.run(["healthcheck"]).exitCode == 74)
                }
                host.send(SIGKILL)
                _ = await host.wait()
                Files.remove(account.vault)
                try Files.makeFolder(account.vault)
                let put = ["put", "--queue", account.larder.config, "/n"]
                let commands = [
                    ["pin", "/"], ["run", "--once"], ["run"], ["check", "--restore"], ["check"], put, ["ls"],
                    ["stat", "/a"], ["issue", "list"], ["explain", "/a"], ["account", "list"],
                    ["account", "remove", "--purge", "home"], ["project", "list"],
                    ["project", "create", "--bundle-id", "x"],
                ]
                for command in commands {
                    let said = try await account.larder.run(command)
                    #expect(
                        said.exitCode == 74 && said.errors.contains("was used before"), "\(command) \(said.summary)")
                }
                let made = try Files.names(in: account.vault)
                #expect(made == [], "\(made)")
                let status = try await account.larder.run(["status"])
                #expect(status.exitCode == 0 && status.output.contains("was used before"), "\(status.summary)")

                Files.remove(account.vault)
                for command in [["check"], ["check", "--restore"]] {
                    let said = try await account.larder.run(command)
                    #expect(said.exitCode == 74, "\(command) \(said.summary)")
                }
                try await mustRun("mv", [elsewhere, account.vault])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                // An account that left the config may begin anew.
                let config = try Files.text(account.larder.config)
                Files.remove(account.vault)
                let left = try await account.larder.run(["account", "remove", "home"])
                #expect(left.exitCode == 0 && left.errors.contains("is not known"), "\(left.summary)")
                try Files.write(config, to: account.larder.config, mode: 0o600)
                #expect(try await account.larder("pin", "/").exitCode == 0)
            }
        }
    }

    @Test(
        "H9, H13: an answer ends its connection, signs of life come while an account is opened, and 128 are not asked more"
    )
    func asked() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server, settings: ["poll: 1s", "shutdown-timeout: 1s"])
                let log = "\(folder)/log"
                try Files.write("#!/bin/sh\nexec sleep 1000\n", to: "\(folder)/hangs", mode: 0o700)
                let config = try Files.text(account.larder.config).replacing(
                    "file: \"\(folder)/password\"", with: "command: [\"\(folder)/hangs\"]")
                try Files.write(config, to: account.larder.config, mode: 0o600)
                let host = try account.larder.start(["run"], errors: log)
                var socket = ""
                try await soon("it listens", beside: host, log: log) {
                    let sockets = "\(account.larder.home)/larder"
                    socket =
                        Files.exists(sockets) ? try Files.names(in: sockets).first.map { "\(sockets)/\($0)" } ?? "" : ""
                    return socket != ""
                }
                let check = try await account.larder("healthcheck")
                #expect(check.exitCode == 69 && check.errors.contains("is being opened"), "\(check.summary)")
                let status = try await account.larder("status")
                #expect(
                    status.exitCode == 0 && status.output.hasPrefix("home: opening the vault\n"), "\(status.summary)")
                let json = try await account.larder("--json", "status")
                #expect(json.output.contains(#""connection":"connecting""#), "\(json.summary)")
                let shown = "\(folder)/shown"
                let watch = try account.larder.start(["status", "--watch"], output: shown)
                try await soon("it is shown", beside: watch, log: shown) {
                    try Files.text(shown).contains("home: opening the vault\n")
                }
                watch.send(SIGTERM)
                #expect(await watch.wait(atMost: .seconds(60)) == .code(0))
                let reload = try await account.larder("reload")
                #expect(reload.exitCode == 1 && reload.errors.contains("is being opened"), "\(reload.summary)")
                let asked = try await TestSupport.run("python3", ["-c", Self.client, socket])
                #expect(asked.exitCode == 0, "\(asked.summary)")

                // More connections than there may be are told so; a command tries again until there is room.
                let crowd = try ChildProcess(
                    "python3", ["-c", Self.crowd, socket, "\(folder)/crowded", "\(folder)/go"],
                    errors: "\(folder)/crowd")
                try await soon("it is crowded", beside: crowd, log: "\(folder)/crowd") {
                    Files.exists("\(folder)/crowded")
                }
                var refused = try await account.answer(from: socket)
                // While the host has not taken them all, the kernel refuses a client that does not wait.
                try await soon("there is room for one that waits", beside: crowd, log: "\(folder)/crowd") {
                    if refused.exitCode == 7 { refused = try await account.answer(from: socket) }
                    return refused.exitCode != 7
                }
                #expect(refused.output.contains("as many commands"), "\(refused.summary)")
                async let later = account.larder("healthcheck")
                try Files.write("", to: "\(folder)/go")
                #expect(try await later.errors.contains("is being opened"))
                #expect(await crowd.wait(atMost: .seconds(60)) == .code(0))
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            }
        }
    }

    /// A program that waits for the end of the connection, and for a sign of life in the answer to a command.
    private static let client = """
        import socket, sys
        def ask(request, until=None):
            s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); s.sendall(request)
            got = b''
            while True:
                piece = s.recv(65536)
                got += piece
                if not piece or until and until in got: return got
        host = b'GET /v1/host HTTP/1.1\\r\\nHost: x\\r\\n'
        for more in (b'', b'Connection: close\\r\\n', b'Accept: text/event-stream\\r\\n'):
            got = ask(host + more + b'\\r\\n')
            assert b' 200 ' in got and b'"version"' in got, got
        pin = b'POST /v1/accounts/home/commands/pin HTTP/1.1\\r\\nHost: x\\r\\nAccept: text/event-stream\\r\\n'
        got = ask(pin + b'Content-Length: 12\\r\\n\\r\\n{"path":"/"}', b':\\n\\n')
        assert b':\\n\\n' in got, got
        """

    /// A program that holds as many connections as the host has at a time, until it is told to go.
    private static let crowd = """
        import os, socket, sys, time
        path, crowded, go = sys.argv[1:]
        held = []
        for i in range(128):
            s = socket.socket(socket.AF_UNIX); s.connect(path); held.append(s)
        # The host takes connections in their order: one that is answered tells that it has taken those before.
        open(crowded, 'w').close()
        while not os.path.exists(go): time.sleep(0.01)
        """
}
