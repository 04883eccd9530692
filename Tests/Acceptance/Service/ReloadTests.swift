import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A running host whose config changes.
@Suite(.serialized) struct ReloadTests {
    private func stop(_ host: ChildProcess) async {
        host.send(SIGTERM)
        #expect(await host.wait(atMost: .seconds(120)) == .code(0))
    }

    @Test("H8, H2: a config with a mistake changes nothing; the log says where it is, and the host goes on")
    func mistakes() async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            accounts["home"].tree.put("/a", "one")
            #expect(try await accounts.larder("--account", "home", "pin", "/").exitCode == 0)
            let host = try accounts.start()
            try await soon("it works", beside: host, log: accounts.log) { try accounts.text("home", "a") != nil }
            let mistakes: [(names: [String], settings: [String], says: String)] = [
                (["home"], ["pol: 3s"], "\(accounts.config):8:1: there is no setting `pol`"),
                (["home"], ["plugins: { vacuum: { after: soon } }"], "\(accounts.config):8:29: `plugins.vacuum.after`"),
                (["home"], ["plugins: ["], "\(accounts.config):"),
                ([], [], "`accounts` must be a list"),
            ]
            for (names, settings, says) in mistakes {
                try accounts.write(names, settings: settings)
                let line = try await accounts.reload(host)
                #expect(line.contains("not reloaded: ") && line.contains(says), "\(line)")
                #expect(line.contains("the host goes on as before"))
            }
            // A pipe into which nobody writes is empty, and nothing waits for it.
            Files.remove(accounts.config)
            try await mustRun("mkfifo", ["-m", "600", accounts.config])
            let piped = try await accounts.reload(host)
            #expect(piped.contains("not reloaded: ") && piped.contains("the host goes on as before"), "\(piped)")
            Files.remove(accounts.config)
            // A secret that is not there is a mistake too: the account goes on with the one that it has.
            try accounts.write(["home"])
            let text = try Files.text(accounts.config).replacing("home.password", with: "nosuch")
            try Files.write(text, to: accounts.config, mode: 0o600)
            let line = try await accounts.reload(host)
            #expect(line.contains("\(accounts.config):6:23: `accounts.home.password`"), "\(line)")

            for name in ["home", "work"] { accounts[name].forgetRequests() }
            accounts["home"].tree.put("/b", "two")
            try await soon("it goes on", beside: host, log: accounts.log) { try accounts.text("home", "b") == "two" }
            try await soon("the other too") { !accounts["work"].requests.isEmpty }
            // Nobody has to wait: a good config is taken at once, and nothing in it is new.
            try accounts.write(["work", "home"], settings: ["# a comment"])
            #expect(try await accounts.reload(host).contains("reloaded: home, work unchanged"))
            await stop(host)
        }
    }

    @Test(
        "H8: `reload` tells a mistake by 78, whatever is left of the config; another vault is told, and needs a restart"
    )
    func command() async throws {
        try await SeveralAccounts.running(["home"]) { accounts in
            let host = try accounts.start()
            try await soon("it works", beside: host, log: accounts.log) { !accounts["home"].requests.isEmpty }
            let whole = try Files.text(accounts.config)
            var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
            for level in 1...9 {
                let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
                bomb += "a\(level): &a\(level) [\(aliases)]\n"
            }
            for text in ["", "accounts: []\n", "accounts:\n", "- no map\n", "\u{0}", bomb] {
                try Files.write(text, to: accounts.config, mode: 0o600)
                let said = try await accounts.larder("reload")
                #expect(
                    said.exitCode == 78 && said.errors.contains(accounts.config), "\(text.prefix(20)) \(said.summary)")
            }
            try Files.write(whole.replacing("vault: home", with: "vault: elsewhere"), to: accounts.config, mode: 0o600)
            let other = try await accounts.larder("reload")
            #expect(other.exitCode == 0 && other.output.contains("accounts.home.vault"), "\(other.summary)")
            try Files.write(whole, to: accounts.config, mode: 0o600)
            #expect(try await accounts.larder("reload").exitCode == 0)
            await stop(host)
        }
    }

    @Test("H8, L34: accounts come, go and change, while one that is not meant loses no request")
    func accounts() async throws {
        try await SeveralAccounts.running(["still", "other", "new"]) { accounts in
            let bytes = Array(repeating: UInt8(7), count: 300_000)
            accounts["still"].tree.put("/large", bytes)
            for name in ["other", "new"] { accounts[name].tree.put("/a", "one") }
            for name in ["still", "other", "new"] {
                #expect(try await accounts.larder("--account", name, "pin", "/").exitCode == 0)
            }
            try accounts.write(["still", "other"])
            let hold = accounts["still"].add(Fault(.hold(afterBytes: 100_000), method: "GET", path: "/large"))
            let receiver = try NotifyReceiver("\(accounts.folder)/notify")
            let host = try accounts.start(receiver: receiver)
            await accounts["still"].untilHeld(hold)
            try await soon("it works", beside: host, log: accounts.log) { try accounts.text("other", "a") != nil }

            try await soon("it is ready", beside: host, log: accounts.log) { receiver.count("READY=1") == 1 }
            var reloads = 0
            func reload() async throws -> String {
                let line = try await accounts.reload(host)
                reloads += 1
                try await soon("it is ready again", beside: host, log: accounts.log) {
                    receiver.count("READY=1") == reloads + 1
                }
                return line
            }

            // One comes.
            try accounts.write(["new", "still", "other"])
            #expect(try await reload().contains("reloaded: new started; other, still unchanged"))
            try await soon("it works", beside: host, log: accounts.log) { try accounts.text("new", "a") == "one" }

            // One changes.
            try accounts.write(["new", "still", "other"], more: ["other": ["local-changes: ignore"]])
            #expect(try await reload().contains("reloaded: other restarted; new, still unchanged"))
            accounts["other"].tree.put("/b", "two")
            try await soon("it goes on", beside: host, log: accounts.log) { try accounts.text("other", "b") == "two" }

            // One goes: it is closed, and its vault is as it was.
            try accounts.write(["still", "other"], more: ["other": ["local-changes: ignore"]])
            #expect(try await reload().contains("reloaded: new stopped; other, still unchanged"))
            try await soon("it is closed", beside: host, log: accounts.log) {
                try Files.text("\(accounts.folder)/new/lock").isEmpty
                    || !Files.exists("\(accounts.folder)/new/unclosed")
            }
            accounts["new"].forgetRequests()
            accounts["other"].tree.put("/c", "three")
            try await soon("others go on", beside: host, log: accounts.log) { try accounts.text("other", "c") != nil }
            #expect(accounts["new"].requests.isEmpty)
            #expect(try accounts.text("new", "a") == "one")

            // It comes back, and nothing is fetched anew.
            try accounts.write(["still", "other", "new"], more: ["other": ["local-changes: ignore"]])
            #expect(try await reload().contains("reloaded: new started; other, still unchanged"))
            accounts["new"].tree.put("/d", "four")
            try await soon("it goes on", beside: host, log: accounts.log) { try accounts.text("new", "d") == "four" }
            #expect(accounts["new"].requests.filter { $0.method == "GET" && $0.path == "/a" }.isEmpty)

            // The request was under way all the time, and is the only one for its file.
            accounts["still"].remove(hold)
            try await soon("it is fetched", beside: host, log: accounts.log) {
                try accounts.text("still", "large")?.utf8.count == bytes.count
            }
            let gets = accounts["still"].requests.filter { $0.method == "GET" && $0.path == "/large" }
            #expect(gets.map(\.bytes) == [bytes.count] && gets.map(\.range) == [nil])

            #expect(receiver.count("RELOADING=1") == 4)
            let times = receiver.lines.compactMap { line in
                line.hasPrefix("MONOTONIC_USEC=") ? Int64(line.dropFirst("MONOTONIC_USEC=".count)) : nil
            }
            #expect(times.count == 4 && times == times.sorted() && times.allSatisfy { $0 > 0 })
            await stop(host)
        }
    }

    @Test("G2, H8: SIGHUP stops a plugin and brings it back, with its policies and event ids")
    func plugins() async throws {
        try await SeveralAccounts.running(["home"]) { accounts in
            let library = "\(accounts.folder)/looper.so"
            try await CompiledPlugin.build(
                "looper", to: library, defines: ["OWN=\"org.example.looper\"", "KIND=\"looper\""])
            func write(enabled: Bool) throws {
                try accounts.write(
                    ["home"],
                    settings: [
                        "plugins:", "  core-loop: { enabled: false }", "  available-offline: { enabled: \(enabled) }",
                        "  org.example.looper:", "    enabled: \(enabled)", "    library: \(library)",
                        "    isolation: in-process",
                        "    settings: { mode: \"\", pages: \"1\", target: /Shared/deep }",
                    ])
            }
            try write(enabled: true)
            accounts["home"].tree.put("/a", "one")
            #expect(try await accounts.larder("pin", "/").exitCode == 0)
            let host = try accounts.start()

            func eventID() async throws -> Substring? {
                try await accounts.larder("--json", "loop", "list").output.firstMatch(
                    of: #/"plugin":"org.example.looper".*"eventID":"([^"]*)"/#)?.output.1
            }
            try await soon("it works", beside: host, log: accounts.log) {
                guard try accounts.text("home", "a") != nil else { return false }
                return try await eventID() == "1"
            }
            try await accounts.reload(host)
            let policies = try await accounts.larder("policy", "list").lines.count

            try write(enabled: false)
            #expect(try await accounts.reload(host).contains("reloaded: home restarted"))
            accounts["home"].tree.put("/b", "two")
            try await soon("it is listed", beside: host, log: accounts.log) {
                try await accounts.larder("stat", "/b").exitCode == 0
            }
            let status = try await accounts.larder("--json", "status").output
            #expect(status.contains(#"libAvailableOffline.so","state":"disabled""#), "\(status)")
            #expect(try await accounts.larder("policy", "list").lines.count == policies)
            #expect(try await eventID() == "1")
            #expect(!accounts["home"].requests.contains { $0.method == "GET" && $0.path == "/b" })

            try write(enabled: true)
            #expect(try await accounts.reload(host).contains("reloaded: home restarted"))
            try await soon("it is fetched", beside: host, log: accounts.log) {
                try accounts.text("home", "b") == "two"
            }
            #expect(try await eventID() == "1")
            await stop(host)
        }
    }

    @Test("H8: a vault or folder of copies that changed waits for a restart, and nobody else gets what it uses")
    func folders() async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            accounts["home"].tree.put("/a", "one")
            #expect(try await accounts.larder("--account", "home", "pin", "/").exitCode == 0)
            try accounts.write(["home"])
            let host = try accounts.start()
            try await soon("it works", beside: host, log: accounts.log) { try accounts.text("home", "a") != nil }
            try accounts.write(["home", "work"], more: ["home": ["vault: elsewhere"], "work": ["vault: home"]])
            let line = try await accounts.reload(host)
            #expect(
                line.contains(
                    "home unchanged; changes that need a restart: accounts.home.vault, accounts.home.files, "
                        + "accounts.work"), "\(line)")
            accounts["home"].tree.put("/b", "two")
            try await soon("it goes on", beside: host, log: accounts.log) { try accounts.text("home", "b") == "two" }
            #expect(accounts["work"].requests.isEmpty && !Files.exists("\(accounts.folder)/elsewhere"))
            // Under another name the account is another one, which takes the vault over when it is free.
            try accounts.write(["work"], more: ["work": ["vault: home", "local-changes: ignore"]])
            #expect(try await accounts.reload(host).contains("reloaded: work started; home stopped"))
            try await soon("it is opened", beside: host, log: accounts.log) { !accounts["work"].requests.isEmpty }
            await stop(host)
        }
    }

    @Test("H8: the level and the format of the log change at once")
    func logs() async throws {
        try await SeveralAccounts.running(["home"]) { accounts in
            let host = try accounts.start()
            try await soon("it works", beside: host, log: accounts.log) { !accounts["home"].requests.isEmpty }
            try accounts.write(["home"], settings: ["log: { level: notice, format: json }"])
            let line = try await accounts.reload(host)
            #expect(line.hasPrefix("{") && line.contains(#""message":"The config was reloaded: home unchanged""#))
            let before = try Files.text(accounts.log)
            try await accounts.reload(host)
            #expect(try !Files.text(accounts.log).dropFirst(before.count).contains("read anew"), "that is information")
            await stop(host)
        }
    }

    @Test("H8: what is set for a plugin that is off disturbs no account; what is set for one at work is for all")
    func idleSettings() async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            let bytes = Array(repeating: UInt8(7), count: 300_000)
            accounts["home"].tree.put("/large", bytes)
            #expect(try await accounts.larder("--account", "home", "pin", "/").exitCode == 0)
            let hold = accounts["home"].add(Fault(.hold(afterBytes: 100_000), method: "GET", path: "/large"))
            func write(_ vacuum: String, paths: String = "") throws {
                try accounts.write(["home", "work"], settings: ["plugins:", "  vacuum: { \(vacuum) }"] + [paths])
            }
            try write("enabled: false, after: 60s")
            let host = try accounts.start()
            await accounts["home"].untilHeld(hold)
            for (vacuum, paths) in [
                ("enabled: false, after: 2s", ""), ("after: 2s, enabled: false", "  paths: [nosuch]"),
            ] {
                try write(vacuum, paths: paths)
                #expect(try await accounts.reload(host).contains("reloaded: home, work unchanged"))
            }
            accounts["home"].remove(hold)
            try await soon("it is fetched", beside: host, log: accounts.log) {
                try accounts.text("home", "large")?.utf8.count == bytes.count
            }
            let gets = accounts["home"].requests.filter { $0.method == "GET" && $0.path == "/large" }
            #expect(gets.map(\.bytes) == [bytes.count] && gets.map(\.range) == [nil])
            try write("enabled: true, after: 2s")
            #expect(try await accounts.reload(host).contains("reloaded: home, work restarted"))
            await stop(host)
        }
    }

    @Test("H8: a host that is killed at a reload leaves what its next start goes on with")
    func kill() async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            for name in ["home", "work"] {
                accounts[name].tree.put("/a", "one")
                #expect(try await accounts.larder("--account", name, "pin", "/").exitCode == 0)
            }
            for round in 0..<4 {
                let receiver = try NotifyReceiver("@\(accounts.folder)/notify \(round)")
                let host = try accounts.start(receiver: receiver)
                try await soon("it works", beside: host, log: accounts.log) {
                    try receiver.count("READY=1") == 1 && accounts.text("home", "a") != nil
                        && accounts.text("work", "a") != nil
                }
                let changes = round % 2 == 0 ? "ignore" : "report"
                try accounts.write(["home", "work"], more: ["work": ["local-changes: \(changes)"]])
                host.send(SIGHUP)
                for _ in 0..<round * 200 { await Task.yield() }
                host.send(SIGKILL)
                #expect(await host.wait() == .signal(SIGKILL))
            }
            for name in ["home", "work"] {
                accounts[name].tree.put("/b", "two")
                #expect(try await accounts.larder("--account", name, "run", "--once").exitCode == 0)
                #expect(try accounts.text(name, "b") == "two")
                #expect(try await accounts.larder("--account", name, "check").exitCode == 0)
            }
        }
    }
}
