import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The control socket of a running host, as other programs meet it: curl, Python, and Larder's own commands.
@Suite(.serialized) struct ControlSocketTests {
    /// Runs a host of an account and stops it after the body.
    private func withHost(
        _ account: Account, _ body: (_ host: ChildProcess, _ socket: String) async throws -> Void
    ) async throws {
        let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
        let socket = try await account.untilCommanded(host)
        do { try await body(host, socket) } catch {
            await host.stop()
            throw error
        }
        host.send(SIGTERM)
        #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        #expect(!Files.exists(socket))
    }

    @Test("H9: the socket is the owner's own, and is reached by the owner and root alone")
    func users() async throws {
        try #require(Build.isRoot, "needs root")
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var account = try Account(in: folder, server, settings: ["poll: 1s"])
                account.larder.unprivileged = true
                try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", folder])
                try await withHost(account) { _, socket in
                    let runtime = "\(account.larder.home)/larder"
                    #expect(Files.mode(of: socket) == 0o600 && Files.mode(of: runtime) == 0o700)
                    #expect(try await account.answer(from: socket).output.contains("\"account\":\"home\""))
                    // Somebody who has changed the modes is known by the kernel all the same.
                    for path in [folder, account.larder.home, runtime] { try await mustRun("chmod", ["a+rx", path]) }
                    try await mustRun("chmod", ["a+rw", socket])
                    #expect(try await account.answer(from: socket, as: Build.unprivilegedUser).exitCode == 0)
                    let stranger = try await account.answer(from: socket, as: Build.unprivilegedUser - 1)
                    #expect(stranger.exitCode != 0 && stranger.output == "", "\(stranger.summary)")
                    #expect(try Files.text("\(folder)/log").contains("may not use the control socket"))
                }
            }
        }
    }

    @Test("H9: a socket that a killed host left is in nobody's way, and is removed", arguments: [true, false])
    func stale(hasRuntimeFolder: Bool) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var account = try Account(in: folder, server, settings: ["poll: 1s"])
                if !hasRuntimeFolder { account.larder.environment["XDG_RUNTIME_DIR"] = "" }
                let killed = try account.larder.start(["run"], errors: "\(folder)/log")
                let old = try await account.untilCommanded(killed)
                #expect(old.hasPrefix(hasRuntimeFolder ? account.larder.home : account.vault + "/control/"))
                killed.send(SIGKILL)
                #expect(await killed.wait() == .signal(SIGKILL))
                #expect(Files.exists(old))
                // A command finds nobody there, and does its work itself.
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let next = try account.larder.start(["run"], errors: "\(folder)/log")
                let new = try await account.untilCommanded(next)
                #expect(new != old && !Files.exists(old))
                #expect(await next.stop() == .code(0))
                #expect(!Files.exists(new))
            }
        }
    }

    @Test("H9: a folder whose path is longer than a socket's address holds the socket all the same")
    func longPath() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var account = try Account(in: folder, server, settings: ["poll: 1s"])
                let long = "\(folder)/" + String(repeating: "long/", count: 40)
                try await mustRun("mkdir", ["-p", long])
                account.larder.environment["XDG_RUNTIME_DIR"] = String(long.dropLast())
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                #expect(try #require(account.socket).utf8.count > 200)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("A host that can make no socket says so and runs; a command exits with 75 then and does not wait")
    func noSocket() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var account = try Account(in: folder, server, settings: ["poll: 1s"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                Files.remove("\(account.vault)/control")
                try Files.write("in the way", to: "\(account.vault)/control")
                account.larder.environment["XDG_RUNTIME_DIR"] = "\(folder)/nowhere"
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                let refused = try await account.larder("pin", "/")
                #expect(refused.exitCode == 75, "\(refused.summary)")
                #expect(try Files.text("\(folder)/log").contains("The host takes no commands"))
                #expect(await host.stop() == .code(0))
                #expect(try await account.larder("pin", "/").exitCode == 0)
            }
        }
    }

    @Test("H9: garbage and thousands of connections get nothing in, grow nothing, and do not hold the host up")
    func garbage() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                try await withHost(account) { host, socket in
                    let seed = SeededGenerator().seed
                    let result = try await TestSupport.run(
                        "python3", ["-c", Self.attack, socket, "\(host.pid)", "\(seed)"])
                    #expect(result.exitCode == 0, "LARDER_TEST_SEED=\(seed) \(result.summary)")
                    #expect(try await account.answer(from: socket).exitCode == 0)
                    server.tree.put("/b", "two")
                    try await soon("the host goes on", beside: host) {
                        try await account.larder("ls", "/").output.contains("b")
                    }
                }
            }
        }
    }

    /// A program that connects thousands of times, sends random bytes and broken requests, and fails if the host keeps
    /// descriptors or gives an answer that is no refusal.
    private static let attack = """
        import os, random, socket, sys
        path, pid, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
        random.seed(seed)
        def descriptors(): return len(os.listdir('/proc/%s/fd' % pid))
        def connect():
            s = socket.socket(socket.AF_UNIX); s.connect(path); s.settimeout(60); return s
        def answer(s):
            got = b''
            try:
                while True:
                    piece = s.recv(65536)
                    if not piece: return got
                    got += piece
            except OSError: return got
        before = descriptors()
        idle = []
        for i in range(10000):
            idle.append(connect())
            if len(idle) > 400: idle.pop(random.randrange(len(idle))).close()
        held = descriptors()
        assert held < before + 300, (before, held)
        for s in idle: s.close()
        heads = [b'GET /v1/host HTTP/1.1\\r\\nHost: x\\r\\n', b'POST /v1/accounts/home/commands/pin HTTP/1.1\\r\\nHost: x\\r\\n']
        for i in range(300):
            s = connect()
            kind = i % 4
            try:
                if kind == 0: s.sendall(os.urandom(random.randrange(1, 5000)))
                elif kind == 1: s.sendall(heads[i % 2] + b'Content-Length: 99999999999\\r\\n\\r\\n' + os.urandom(100))
                elif kind == 2: s.sendall(heads[0] + b'X: ' + b'a' * 200000)
                else: s.sendall(b'POST /v1/accounts/home/commands/pin HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 10\\r\\n\\r\\n{"path":12')
                s.shutdown(socket.SHUT_WR)
            except OSError: pass
            got = answer(s)
            assert not got.startswith(b'HTTP/1.1 2'), got[:300]
            s.close()
        """
}

extension Account {
    /// Waits until a running host takes commands, and returns the socket on which it does.
    func untilCommanded(_ host: ChildProcess) async throws -> String {
        try await soon("the host takes commands", beside: host, log: "\(folder)/log") {
            try await answer(from: socket ?? "").exitCode == 0
        }
        return try #require(socket)
    }

    /// The socket that the vault's lock names.
    var socket: String? {
        let lines = (try? Files.text("\(vault)/lock"))?.split(separator: "\n") ?? []
        return lines.count > 1 && lines[1].hasPrefix("/") ? String(lines[1]) : nil
    }

    /// Asks a socket for the state of its host.
    func answer(from socket: String, as user: uid_t? = nil) async throws -> ProcessResult {
        var arguments = ["curl", "-sS", "--max-time", "60", "--unix-socket", socket, "http://larder/v1/host"]
        if let user {
            arguments = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] + arguments
        }
        return try await TestSupport.run(arguments[0], Array(arguments.dropFirst()))
    }
}
