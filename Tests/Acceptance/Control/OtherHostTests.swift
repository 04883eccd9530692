import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A host of another version, or with another config, which refuses in words what it might misunderstand.
@Suite(.serialized) struct OtherHostTests {
    @Test("A host refuses whatever a command of another version asks for, with a sentence, and does nothing of it")
    func otherCommand() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                let socket = try await account.untilCommanded(host)
                try await account.untilOnline(host, log: "\(folder)/log")
                func ask(_ path: String, _ more: [String]) async throws -> ProcessResult {
                    try await TestSupport.run(
                        "curl",
                        ["-sS", "--max-time", "60", "-w", "%{http_code}", "--unix-socket", socket] + more
                            + ["http://larder/v1/\(path)"])
                }
                let body = ["-d", "{\"path\":\"/a\"}"]
                for (path, more) in [
                    ("host", []), ("accounts/home", []), ("reload", ["-X", "POST"]),
                    ("accounts/home/commands/pin", body),
                ] {
                    let answer = try await ask(path, ["-H", "Larder-Version: 0.0.1"] + more)
                    #expect(answer.output.hasSuffix("409"), "\(path): \(answer.summary)")
                    #expect(answer.output.contains("\"code\":\"vaultLocked\""), "\(path): \(answer.summary)")
                    #expect(answer.output.contains("this command is Larder 0.0.1"), "\(path): \(answer.summary)")
                }
                #expect(try !Files.text("\(folder)/log").contains("read anew"))
                #expect(try await account.larder("policy", "list").lines.isEmpty)
                // A program that does not say its version is heard.
                let pinned = try await ask("accounts/home/commands/pin", body)
                #expect(pinned.output.hasSuffix("200"), "\(pinned.summary)")
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("A command says that the host is of another version, with 75, and changes nothing")
    func otherHost() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let config = try Files.text(account.larder.config)
                let socket = "\(folder)/0.sock"
                try Files.write(Self.foreignHost, to: "\(folder)/host.py")
                let host = try ChildProcess(
                    "python3", ["\(folder)/host.py", account.vault, socket], errors: "\(folder)/log")
                try await soon("it listens", beside: host, log: "\(folder)/log") { account.socket == socket }
                server.forgetRequests()
                for command in [
                    ["pin", "/a"], ["get", "/a"], ["free", "/a"], ["use", "/a"], ["policy", "run"],
                    ["policy", "add", "--kind", "availableOffline", "--where", "true"], ["policy", "undo"],
                    ["claim", "add", "/a", "--type", "read"], ["sync", "retry", "1"],
                    ["issue", "resolve", "1", "retry"],
                    ["loop", "poll"], ["account", "verify"], ["plugin", "retry", "vacuum"],
                    ["account", "remove", "home"], ["account", "remove", "home", "--purge"], ["reload"],
                    ["healthcheck"], ["wait"], ["pause"], ["resume"], ["mkdir", "/m"], ["rm", "/a"],
                    ["mv", "/a", "/b"],
                    ["cp", "/a", "/b"], ["put", "/etc/passwd", "/p"], ["favorite", "/a"],
                ] {
                    let name = command.joined(separator: " ")
                    let said = try await account.larder.run(command)
                    #expect(said.exitCode == 75, "\(name): \(said.summary)")
                    #expect(
                        said.errors.contains("larder: the host that runs is Larder 9.9.9, this command is Larder 0."),
                        "\(name): \(said.summary)")
                    #expect(said.errors.contains("restart the host") && said.output == "", "\(name): \(said.summary)")
                    let json = try await account.larder.run(["--json"] + command)
                    #expect(json.exitCode == 75 && json.output.contains("\"code\":\"vaultLocked\""), "\(json.summary)")
                }
                #expect(try Files.text(account.larder.config) == config && Files.exists("\(account.vault)/larder.db"))
                #expect(server.requests.isEmpty)
                // What only reads needs no host.
                for command in [["ls"], ["status"], ["policy", "list"], ["account", "list"], ["plugin", "list"]] {
                    let read = try await account.larder.run(command)
                    #expect(read.exitCode == 0, "\(read.summary)")
                }
                #expect(try await account.larder("policy", "list").lines.isEmpty)
                host.send(SIGKILL)
                _ = await host.wait()
                // A host that has ended is in nobody's way, whatever it was.
                let pinned = try await account.larder("pin", "/a")
                #expect(pinned.exitCode == 0, "\(pinned.summary)")
            }
        }
    }

    @Test("A command whose config differs from the host's for the account says so, with 75, until the host has read it")
    func otherConfig() async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            for name in ["home", "work"] { accounts[name].tree.put("/a", "x") }
            let host = try accounts.start()
            try await soon("they work", beside: host, log: accounts.log) {
                for name in ["home", "work"] {
                    guard try await accounts.larder("--account", name, "stat", "/a").exitCode == 0 else { return false }
                }
                return true
            }
            try accounts.write(["home", "work"], more: ["home": ["local-changes: ignore"]])
            for command in [["pin", "/a"], ["loop", "poll"], ["plugin", "retry", "vacuum"]] {
                let name = command.joined(separator: " ")
                let said = try await accounts.larder.run(["--account", "home"] + command)
                #expect(said.exitCode == 75, "\(name): \(said.summary)")
                #expect(
                    said.errors.contains("the config has changed for the account `home` since the host has read it"),
                    "\(name): \(said.summary)")
                #expect(said.errors.contains("`larder reload`"), "\(name): \(said.summary)")
            }
            // The other account's part is the same.
            #expect(try await accounts.larder("--account", "work", "pin", "/a").exitCode == 0)
            #expect(try await accounts.larder("reload").exitCode == 0)
            let pinned = try await accounts.larder("--account", "home", "pin", "/a")
            #expect(pinned.exitCode == 0, "\(pinned.summary)")

            // Names that were exchanged are so after a restart only.
            let vaults = ["home": "vault: work", "work": "vault: home"]
            try accounts.write(["home", "work"], more: vaults.mapValues { [$0] })
            let reloaded = try await accounts.larder("reload")
            #expect(reloaded.exitCode == 0 && reloaded.output.contains("need a restart"), "\(reloaded.summary)")
            let refused = try await accounts.larder("--account", "home", "pin", "/a")
            #expect(refused.exitCode == 75 && refused.errors.contains("Restart the host"), "\(refused.summary)")
            #expect(await host.stop() == .code(0))
        }
    }

    /// A host of another version: it has the vault locked, and answers each request as such a host does.
    private static let foreignHost = """
        import fcntl, json, os, socketserver, sys
        from http.server import BaseHTTPRequestHandler
        vault, path = sys.argv[1:]
        folder = os.open(vault, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                said = self.headers.get('Larder-Version')
                text = f'the host that runs is Larder 9.9.9, this command is Larder {said}'
                error = {'code': 'vaultLocked', 'message': text, 'hint': 'restart the host'}
                body = json.dumps({'error': error}).encode()
                self.send_response(409)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            do_GET = do_POST = answer
            def address_string(self): return 'a command'
        with socketserver.ThreadingUnixStreamServer(path, Handler) as server:
            open(vault + '/lock', 'w').write(f'{os.getpid()}\\n{path}\\n')
            server.serve_forever()
        """
}
