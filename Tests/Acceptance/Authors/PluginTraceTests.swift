import DemoServer
import FoundationEssentials
import Glibc
import Model
import TestServer
import TestSupport
import Testing

/// `larder plugin trace`, with a host and plugins in C.
@Suite struct PluginTraceTests {
    /// An account with a processor that acts on each file, and a host that runs.
    private struct Traced {
        let account: Account
        let server: TestServer
        let host: ChildProcess
        let socket: String

        /// Begins to follow the plugin's calls, and waits until the host tells them.
        func follow(_ words: String..., plugin: String = "org.example.recorder") async throws -> Following {
            let following = Following(folder: account.folder, name: (words + [plugin]).joined())
            let child = try account.larder.start(
                words + ["plugin", "trace", plugin], output: following.output, errors: following.errors)
            return try await following.begun(child)
        }

        /// Has the plugin called for each file.
        func runPolicies() async throws {
            let run = try await account.larder("policy", "run", "--trigger", "itemListUpdateCompleted")
            #expect(run.exitCode == 0, "\(run.summary)")
        }
    }

    /// A command that follows calls.
    private struct Following {
        let output: String
        let errors: String
        private(set) var child: ChildProcess?

        init(folder: String, name: String) {
            (output, errors) = ("\(folder)/output \(name)", "\(folder)/errors \(name)")
        }

        func begun(_ child: ChildProcess) async throws -> Self {
            var following = self
            following.child = child
            try await soon("the calls are followed", beside: child, log: errors) {
                try Files.exists(errors) && Files.text(errors).contains("following the calls into")
            }
            return following
        }

        func lines() throws -> [String] {
            try Files.text(output).split(separator: "\n").map(String.init)
        }

        func until(_ what: String, _ isSo: ([String]) -> Bool) async throws {
            try await soon(what, beside: child, log: output) { isSo(try lines()) }
        }

        /// Ends the command by Ctrl-C.
        func end() async throws {
            let child = try #require(child)
            child.send(SIGINT)
            #expect(await child.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    private func withTraced(files: Int = 2, _ body: (Traced) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("recorder", to: "\(folder)/recorder.so")
            // The guide's plugin, which asks for a download in each run.
            try Files.write(
                try Guide().block("c", with: "struct plugin {")
                    .replacing("favorite && !removed", with: #"name == \"file 0\" || favorite && !removed"#),
                to: "\(folder)/asking.c")
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-I", "\(Build.root)/SDK/C/include",
                    "\(folder)/asking.c", "-o", "\(folder)/asking.so",
                ])
            try await CompiledPlugin.build("looper", to: "\(folder)/looper.so")
            try await TestServer.running { server in
                for number in 0..<files { server.tree.put("/file \(number)", "x") }
                let account = try Account(
                    in: folder, server,
                    settings: [
                        "poll: 1h", "plugins:", "  org.example.recorder:",
                        "    { library: \"\(folder)/recorder.so\", isolation: in-process,",
                        #"      settings: { log: /dev/null, match: 'type == "file"', cleanup: '' } }"#,
                        "  org.example.looper:",
                        "    { library: \"\(folder)/looper.so\", isolation: in-process,",
                        "      settings: { mode: plain, pages: '1' } }",
                        "  org.example.favorites: { library: \"\(folder)/asking.so\", isolation: in-process }",
                    ])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                let socket = try await account.untilCommanded(host)
                try await account.untilOnline(host, log: "\(folder)/log")
                try await body(Traced(account: account, server: server, host: host, socket: socket))
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }

    @Test("plugin trace shows each call of a running host and what comes of it, as text and as the lines of a trace")
    func live() async throws {
        try await withTraced { traced in
            let (text, json) = (try await traced.follow(), try await traced.follow("--json"))
            let asking = try await traced.follow(plugin: "org.example.favorites")
            try await traced.runPolicies()
            try await asking.until("what is asked for is shown") { lines in
                lines.contains("    asks: download /file 0")
                    && lines.firstIndex(of: "  performAction /file 0")
                        == lines.firstIndex(of: "    asks: download /file 0").map { $0 - 1 }
            }
            try await text.until("the calls are shown") { $0.contains("  endMatching (itemListUpdateCompleted)") }
            let lines = try text.lines()
            #expect(lines.first == "org.example.recorder", "\(lines)")
            #expect(lines.contains("  performAction /file 1"), "\(lines)")
            try await json.until("the calls are lines") { $0.contains { $0.contains(#""call":"endMatching""#) } }
            let expected = #""call":"performAction","trigger":"itemListUpdateCompleted","path":"/file 0""#
            let calls = try json.lines().filter { $0.contains(expected) }
            #expect(calls.count == 2 && calls[0].contains(#""phase":"begin""#), "\(calls)")
            #expect(calls.last?.contains(#""status":"ok","microseconds":"#) == true, "\(calls)")
            #expect(try json.lines().allSatisfy { $0.hasPrefix(#"{"seq":"#) && $0.contains(#","account":"home","#) })
            let loop = try await traced.follow(plugin: "org.example.looper")
            #expect(try await traced.account.larder("loop", "poll", "looper").exitCode == 0)
            try await loop.until("the loop's calls are shown") { lines in
                lines.contains { $0.hasPrefix("  poll ") }
            }
            #expect(try loop.lines().allSatisfy { !$0.contains("performAction") })
            for following in [text, json, asking, loop] { try await following.end() }
        }
    }

    @Test("A timeline is whole JSON when the command is ended, and has each call with its length and in its order")
    func timeline() async throws {
        struct Event: Decodable {
            var ph: String
            var name: String
            var ts: Int64?
            var dur: Int64?
            var pid: Int
            var tid: Int
            var args: [String: String]
        }
        try await withTraced { traced in
            let file = "\(traced.account.folder)/timeline.json"
            let began = Int64(Date().timeIntervalSince1970 * 1e6)
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let following = Following(folder: traced.account.folder, name: "\(signal)")
                let child = try traced.account.larder.start(
                    ["plugin", "trace", "org.example.recorder", "--timeline", file], output: following.output,
                    errors: following.errors)
                let begun = try await following.begun(child)
                try await traced.runPolicies()
                try await begun.until("the calls are shown") { $0.contains { $0.contains("  endMatching") } }
                try await soon("the calls are in the file", beside: child) {
                    try Files.text(file).contains(#""name":"endMatching""#)
                }
                child.send(signal)
                #expect(await child.wait(atMost: .seconds(120)) == .code(0))
                let events = try JSONDecoder().decode([Event].self, from: Data(Files.read(file)))
                #expect(events.first?.name == "process_name" && events.first?.args["name"] == "home")
                let calls = events.filter { $0.ph == "X" }
                let actions = calls.filter { $0.name == "performAction" }
                #expect(actions.map { $0.args["path"] } == ["/file 0", "/file 1"], "\(calls)")
                #expect(actions.allSatisfy { $0.args["status"] == "ok" && ($0.ts ?? 0) > began })
                var end: Int64 = 0
                for call in calls {
                    let (start, length) = (try #require(call.ts), try #require(call.dur))
                    #expect(start >= end && length >= 0, "\(call)")
                    end = start + length
                }
            }
        }
    }

    @Test("A reader that has stopped holds neither the plugin nor the host's memory, and learns how much it has missed")
    func stopped() async throws {
        try await withTraced(files: 3_000) { traced in
            let stopped = try await spawnStopped(traced.socket)
            let before = try memory(of: traced.host)
            // A run has 6,000 lines of more than 200 bytes.
            for _ in 0..<4 { try await traced.runPolicies() }
            #expect(try memory(of: traced.host) < before + 40_000)
            try Files.write("", to: stopped.go)
            #expect(await stopped.child.wait(atMost: .seconds(300)) == .code(0))
            let said = try Files.text(stopped.output)
            #expect(said.hasSuffix("left out\n"), "\(said)")
            #expect(try await traced.account.larder("wait").exitCode == 0)
        }

        func spawnStopped(_ socket: String) async throws -> (child: ChildProcess, output: String, go: String) {
            let folder = socket + ".reader"
            try Files.makeFolder(folder)
            let child = try ChildProcess(
                "python3", ["-c", Self.reader, socket, "\(folder)/go"], output: "\(folder)/output")
            try await soon("the reader has begun", beside: child) {
                try Files.exists("\(folder)/output") && Files.text("\(folder)/output").hasPrefix("begun")
            }
            return (child, "\(folder)/output", "\(folder)/go")
        }
    }

    @Test("Ctrl-C ends a trace whose output nobody reads, with a timeline that is whole")
    func unread() async throws {
        try await withTraced(files: 1_000) { traced in
            let (pipe, file) = ("\(traced.account.folder)/pipe", "\(traced.account.folder)/timeline.json")
            try await mustRun("mkfifo", [pipe])
            let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(reader >= 0)
            defer { close(reader) }
            let following = Following(folder: traced.account.folder, name: "unread")
            let child = try await following.begun(
                traced.account.larder.start(
                    ["--json", "plugin", "trace", "org.example.recorder", "--timeline", file], output: pipe,
                    errors: following.errors))
            // More than a pipe takes.
            try await traced.runPolicies()
            try await soon("calls are in the file") { try Files.text(file).contains("/file 10") }
            try await child.end()
            guard case .array(let events)? = try? JSONValue(parsing: Files.text(file)) else {
                Testing.Issue.record("the timeline is no array")
                return
            }
            #expect(events.count > 10)
        }
    }

    @Test("The calls for several accounts are shown with the account, and one that no host runs is named")
    func accounts() async throws {
        try await SeveralAccounts.running(["home", "work", "away"]) { fixture in
            let library = "\(fixture.folder)/recorder.so"
            try await CompiledPlugin.build("recorder", to: library)
            let settings = [
                "plugins:", "  org.example.recorder:", "    { library: \"\(library)\", isolation: in-process,",
                #"      settings: { log: /dev/null, match: 'type == "file"', cleanup: '' } }"#,
            ]
            try fixture.write(["home", "work"], settings: settings)
            let host = try fixture.larder.start(["run"], errors: fixture.log)
            for name in ["home", "work"] {
                try await soon("\(name) is online", beside: host, log: fixture.log) {
                    try await fixture.larder("--account", name, "--json", "status").output.contains(
                        #""connection":"online""#)
                }
            }
            try fixture.write(["home", "work", "away"], settings: settings)
            let following = Following(folder: fixture.folder, name: "all")
            let begun = try await following.begun(
                fixture.larder.start(
                    ["plugin", "trace", "org.example.recorder"], output: following.output, errors: following.errors))
            try await soon("all accounts are told", beside: begun.child, log: following.errors) {
                let said = try Files.text(following.errors)
                return said.contains("for the account `home`") && said.contains("for the account `work`")
                    && said.contains("`away`")
            }
            for name in ["home", "work"] {
                let run = try await fixture.larder(
                    "--account", name, "policy", "run", "--trigger", "itemListUpdateCompleted")
                #expect(run.exitCode == 0, "\(run.summary)")
                try await begun.until("the calls for \(name) are shown") {
                    $0.contains("org.example.recorder in \(name)")
                }
            }
            try await begun.end()
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    private func memory(of host: ChildProcess) throws -> Int {
        let line = try Files.text("/proc/\(host.pid)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        return Int(line?.split(separator: " ").dropFirst().first ?? "") ?? .max
    }

    /// A program that reads the begin of the calls, and no more until a file is there.
    private static let reader = """
        import os, socket, sys, time
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.sendall(b'GET /v1/accounts/home/plugins/org.example.recorder/trace HTTP/1.1\\r\\nHost: x\\r\\n'
                  b'Accept: text/event-stream\\r\\n\\r\\n')
        seen = b''
        while b'event: traced' not in seen: seen += s.recv(100)
        print('begun', flush=True)
        while not os.path.exists(sys.argv[2]): time.sleep(0.05)
        while b'"phase":"leftOut","count":' not in seen:
            piece = s.recv(65536)
            assert piece
            seen += piece
        print('left out', flush=True)
        """

    @Test(
        "plugin trace ends in words with the host, and without one; an unknown plugin is 66 with the name that is meant"
    )
    func ends() async throws {
        try await withTraced { traced in
            let larder = traced.account.larder
            let unknown = try await larder("plugin", "trace", "vacum")
            #expect(unknown.exitCode == 66 && unknown.errors.contains("did you mean `vacuum`?"), "\(unknown.summary)")
            let place = try await larder("plugin", "trace", "vacuum", "--timeline", "\(traced.account.folder)/no/file")
            #expect(place.exitCode == 73 && place.errors.contains("/no/file"), "\(place.summary)")
            let full = try await larder("plugin", "trace", "vacuum", "--timeline", "/dev/full")
            #expect(full.exitCode == 74, "\(full.summary)")
            for signal in [SIGTERM, SIGKILL] {
                let host = signal == SIGTERM ? traced.host : try larder.start(["run"], errors: "\(larder.home)/log")
                if signal == SIGKILL { _ = try await traced.account.untilCommanded(host) }
                let following = try await traced.follow("--log-level", signal == SIGTERM ? "info" : "error")
                host.send(signal)
                #expect(await following.child?.wait(atMost: .seconds(120)) == .code(1))
                #expect(try Files.text(following.errors).contains("larder: the host has ended"))
                _ = await host.wait()
            }
            let none = try await larder("plugin", "trace", "vacuum")
            #expect(none.exitCode == 69 && none.errors.contains("no host runs"), "\(none.summary)")
        }
    }
}
