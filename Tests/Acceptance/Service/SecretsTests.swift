import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// Where the secrets of a running host must not be found.
@Suite(.serialized) struct SecretsTests {
    /// The accounts, each with another source of its secret.
    private static let names = ["file", "program", "variable", "credential", "token", "proxied"]
    private static let proxyPassword = "proxy-\(UInt64.random(in: .min ... .max))-secret"
    private static let token = "token-\(UInt64.random(in: .min ... .max))-secret"
    /// The files below the folder that the secrets are in.
    private static let sources = [
        "file.password", "program.secret", "credentials/larder", "token.secret", "proxied.password", "proxy.password",
    ]

    @Test(
        "H7: no secret is in an argument, an environment, a log, an answer or a file, but where the config says",
        .enabled(if: Build.isRoot, "reading the environment of a host needs root"))
    func nowhere() async throws {
        try await SeveralAccounts.running(Self.names) { accounts in
            for name in Self.names { accounts[name].tree.put("/a", name, modified: 1_600_000_000) }
            try await withProxy(.http, login: ("porter", Self.proxyPassword)) { proxy in
                let secrets = try write(accounts, proxyPort: proxy.port)
                let host = try start(accounts)
                do { try await check(accounts, host, secrets) } catch {
                    await host.stop()
                    throw error
                }
                #expect(await host.stop() == .code(0))
                for file in try Files.filesBelow(accounts.folder) where !Self.sources.contains(file) {
                    let text = String(decoding: try Files.read("\(accounts.folder)/\(file)"), as: UTF8.self)
                    #expect(secrets.found(in: text) == [], "\(file)")
                }
                let log = try Files.text(accounts.log)
                #expect(log.contains("trace") || log.contains("debug"), "the log is not at its finest level")
            }
        }
    }

    @Test(
        "H7: a host leaves no core, not even to a program that collects them, and only root reads its environment",
        .enabled(if: Build.isRoot, "needs root"))
    func core() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var account = try Account(in: folder, server, settings: ["poll: 1s"])
                account.larder.unprivileged = true
                try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", folder])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                try await account.untilOnline(host, log: "\(folder)/log")
                let limits = try Files.text("/proc/\(host.pid)/limits").split(separator: "\n")
                let core = try #require(limits.first { $0.hasPrefix("Max core file size") })
                #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
                // The files of a process that must not be dumped belong to root (proc(5)).
                var status = stat()
                #expect(stat("/proc/\(host.pid)/environ", &status) == 0 && status.st_uid == 0)
                let other = try await TestSupport.run(
                    "setpriv",
                    [
                        "--reuid=\(Build.unprivilegedUser)", "--regid=\(Build.unprivilegedUser)", "--clear-groups",
                        "--",
                        "cat", "/proc/\(host.pid)/environ",
                    ])
                #expect(other.exitCode != 0 && other.output == "")
                #expect(await host.stop() == .code(0))
            }
        }
    }

    // MARK: Preparation

    /// Writes the config and the sources of the secrets.
    private func write(_ accounts: SeveralAccounts, proxyPort: UInt16) throws -> Secrets {
        let folder = accounts.folder
        func password(_ name: String) -> String { accounts[name].configuration.password }
        for name in Self.names where !Self.sources.contains("\(name).password") {
            Files.remove("\(folder)/\(name).password")
        }
        try Files.makeFolder("\(folder)/credentials")
        for (file, secret) in [
            ("program.secret", password("program")), ("credentials/larder", password("credential")),
            ("token.secret", Self.token), ("proxy.password", Self.proxyPassword),
        ] { try Files.write(secret + "\n", to: "\(folder)/\(file)", mode: 0o600) }
        let script = """
            #!/bin/sh
            touch '\(folder)/begun'
            while [ ! -e '\(folder)/go' ]; do sleep 0.05; done
            cat '\(folder)/program.secret'
            """
        try Files.write(script, to: "\(folder)/tell", mode: 0o700)
        let sources = [
            "file": "password: { file: file.password }", "program": "password: { command: [\"\(folder)/tell\"] }",
            "variable": "password: { env: VARIABLE_PASSWORD }", "credential": "password: { credential: larder }",
            "token": "token: { file: token.secret }", "proxied": "password: { file: proxied.password }",
        ]
        var lines = ["poll: 1s", "log: { level: trace }", "accounts:"]
        for name in Self.names {
            let server = accounts[name]
            lines += [
                "  - name: \(name)", "    url: \(server.url)", "    username: \(server.configuration.user)",
                "    \(sources[name] ?? "")", "    vault: \(name)",
            ]
        }
        lines.append(
            "    proxy: { url: \"http://127.0.0.1:\(proxyPort)\", username: porter, password: { file: proxy.password } }"
        )
        try Files.write(lines.joined(separator: "\n") + "\n", to: accounts.config, mode: 0o600)
        var secrets = Secrets()
        for name in Self.names where name != "token" {
            secrets.add(name, password(name), user: accounts[name].configuration.user)
        }
        secrets.add("proxy", Self.proxyPassword, user: "porter")
        secrets.add("token", Self.token, user: accounts["token"].configuration.user)
        return secrets
    }

    private func start(_ accounts: SeveralAccounts) throws -> ChildProcess {
        try larder(accounts).start(["run", "--trace", "\(accounts.folder)/trace"], errors: accounts.log)
    }

    private func larder(_ accounts: SeveralAccounts) -> LarderCommand {
        var larder = accounts.larder
        larder.hasLoops = true
        larder.environment = [
            "CREDENTIALS_DIRECTORY": "\(accounts.folder)/credentials",
            "VARIABLE_PASSWORD": accounts["variable"].configuration.password,
        ]
        return larder
    }

    // MARK: Checks

    private func check(_ accounts: SeveralAccounts, _ host: ChildProcess, _ secrets: Secrets) async throws {
        let larder = larder(accounts)
        try await soon("the program runs", beside: host, log: accounts.log) {
            Files.exists("\(accounts.folder)/begun")
        }
        var read = 0
        for process in try Self.family(of: host.pid) {
            let arguments = (try? Files.text("/proc/\(process)/cmdline")) ?? ""
            #expect(secrets.found(in: arguments) == [], "\(arguments)")
            // What the program itself runs may have ended.
            guard let environment = try? Files.text("/proc/\(process)/environ"), environment != "" else { continue }
            // A child has the variables of its parent.
            #expect(secrets.found(in: environment) == ["variable"])
            read += 1
        }
        #expect(read > 1, "the program is a child of the host")
        try Files.write("", to: "\(accounts.folder)/go")
        for name in Self.names {
            try await soon("\(name) is used", beside: host, log: accounts.log) {
                try await larder("--account", name, "healthcheck").exitCode == (name == "token" ? 77 : 0)
            }
            let got = try await larder("--account", name, "get", "/a")
            #expect(got.exitCode == (name == "token" ? 77 : 0), "\(got.summary)")
        }

        for command in [
            ["config", "show"], ["config", "validate"], ["status"], ["healthcheck"], ["account", "list"],
            ["plugin", "list"], ["reload"], ["account", "verify"],
        ] {
            for format in [[], ["--json"], ["--log-level", "trace"]] {
                let said = try await larder.run(format + command)
                #expect(secrets.found(in: said.output + said.errors) == [], "\(command): \(said.summary)")
            }
        }

        let socket = try #require(
            try Files.text("\(accounts.folder)/file/lock").split(separator: "\n").dropFirst().first.map(String.init))
        let requests = try Self.describedRequests()
        #expect(requests.count > 20)
        var answered = 0
        for (method, path) in requests {
            // The answer to a query has no end.
            let isEndless = path.hasSuffix("/query") || path.hasSuffix("/changes")
            for name in path.contains("{account}") ? Self.names : [""] {
                let answer = try await TestSupport.run(
                    "curl",
                    [
                        "-sS", "--max-time", isEndless ? "2" : "60", "-w", "%{http_code}", "--unix-socket", socket,
                        "-X", method,
                        "http://larder"
                            + path.replacing("{account}", with: name)
                            .replacing("{plugin}", with: "vacuum"),
                    ] + (method == "POST" ? ["-d", Self.anyBody] : []))
                #expect(answer.exitCode == (isEndless ? 28 : 0), "\(path): \(answer.summary)")
                #expect(secrets.found(in: answer.output) == [], "\(path): \(answer.summary)")
                if answer.output.hasSuffix("200") { answered += 1 }
            }
        }
        #expect(answered > 30)
    }

    /// A body that fits many commands.
    private static let anyBody = """
        {"path":"/a","waits":false,"id":1,"name":"core","isEnabled":true,"asksAgain":true,"approvals":[],\
        "trigger":"timer","direction":"undo","choice":"retry","plugin":"org.larder.vacuum","change":{},"kind":"read",\
        "validity":{"explicit":true},"record":1,"issue":1}
        """

    /// The methods and paths that the description of the socket names.
    private static func describedRequests() throws -> [(method: String, path: String)] {
        var (requests, path) = ([(method: String, path: String)](), "")
        for line in try Files.text("\(Build.root)/Host/Docs/control-api.yaml").split(separator: "\n") {
            if line.hasPrefix("  /v1/") { path = String(line.dropFirst(2).prefix { $0 != ":" }) }
            if line == "    get:" { requests.append(("GET", path)) }
            if line == "    post:" { requests.append(("POST", path)) }
        }
        return requests
    }

    /// Returns a process and all that descend from it.
    private static func family(of process: pid_t) throws -> [pid_t] {
        var children: [pid_t: [pid_t]] = [:]
        for name in try Files.names(in: "/proc") {
            // Processes of other tests come and go.
            guard let id = pid_t(name), let stat = try? Files.text("/proc/\(id)/stat"),
                let end = stat.lastIndex(of: ")")
            else { continue }
            let fields = stat[end...].split(separator: " ")
            if fields.count > 2, let parent = pid_t(fields[2]) { children[parent, default: []].append(id) }
        }
        var family = [process]
        var next = 0
        while next < family.count {
            family += children[family[next]] ?? []
            next += 1
        }
        return family
    }
}

/// The secrets of a test, in the forms in which they might be found.
private struct Secrets {
    private var forms: [(name: String, text: String)] = []

    /// Adds a secret as it is, and as HTTP Basic sends it.
    mutating func add(_ name: String, _ secret: String, user: String) {
        forms.append((name, secret))
        forms.append((name, Data("\(user):\(secret)".utf8).base64EncodedString()))
    }

    /// Returns the names of the secrets that a text contains.
    func found(in text: String) -> [String] {
        var names: [String] = []
        for form in forms where text.contains(form.text) && !names.contains(form.name) { names.append(form.name) }
        return names
    }
}
