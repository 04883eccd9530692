import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Plugins whose settings are different for one of two accounts.
@Suite(.serialized) struct AccountPluginsTests {
    private static let recorder = "org.example.recorder"

    /// Runs the body with two accounts that have two files each.
    /// - Parameter body: gets a function that writes the config with the lines of `work`'s `plugins`.
    private func withAccounts(
        _ body: (SeveralAccounts, (String...) throws -> Void) async throws -> Void
    ) async throws {
        try await SeveralAccounts.running(["home", "work"]) { accounts in
            let library = "\(accounts.folder)/recorder.so"
            try await CompiledPlugin.build("recorder", to: library)
            for name in ["home", "work"] {
                for file in ["a", "b", "c"] { accounts[name].tree.put("/\(file)", file) }
            }
            try await body(accounts) { (lines: String...) in
                try accounts.write(
                    ["home", "work"], more: ["work": lines.isEmpty ? [] : ["plugins:"] + lines.map { "  " + $0 }],
                    settings: [
                        "plugins:", "  version-updates: { enabled: false }", "  \(Self.recorder):",
                        "    library: \(library)", "    isolation: in-process",
                        #"    settings: { match: "path == '/a'" }"#,
                    ])
            }
        }
    }

    private func copies(_ accounts: SeveralAccounts, _ account: String) throws -> [String] {
        try ["a", "b", "c"].filter { try accounts.text(account, $0) != nil }
    }

    @Test("H3, G2: of two accounts one has other settings of a plugin, and another plugin turned off")
    func settings() async throws {
        try await withAccounts { accounts, write in
            try write(
                "\(Self.recorder): { settings: { match: \"path == '/b'\" } }", "available-offline: { enabled: false }",
                "version-updates: { enabled: true }")
            let larder = accounts.larder
            #expect(try await larder("config", "validate").exitCode == 0)
            let run = try await larder("run", "--once")
            #expect(run.exitCode == 0, "\(run.summary)")
            #expect(try copies(accounts, "home") == ["a"] && copies(accounts, "work") == ["b"])
            // What is off for an account does nothing there.
            for name in ["home", "work"] {
                #expect(try await larder("--account", name, "pin", "/c").exitCode == 0)
            }
            #expect(try await larder("run", "--once").exitCode == 0)
            #expect(try copies(accounts, "home") == ["a", "c"] && copies(accounts, "work") == ["b"])

            // Each command says what is different, and where.
            let shown = try await larder("--json", "config", "show")
            let key = #"{"key":"accounts.work.plugins.\#(Self.recorder).settings.match","#
            #expect(shown.lines.contains { $0.hasPrefix(key + #""value":"path == '/b'""#) }, "\(shown.summary)")
            let info = try await larder("plugin", "info", Self.recorder)
            #expect(info.output.contains("\naccounts.work.plugins.\(Self.recorder).settings.match = \"path == '/b'\""))
            for (account, plugin, state) in [
                ("home", "available-offline", "ready"), ("work", "available-offline", "disabled"),
                ("home", "version-updates", "disabled"), ("work", "version-updates", "ready"),
            ] {
                let why = try await larder("--account", account, "plugin", "why", plugin)
                let begin = "\(plugin) is \(state): `plugins.\(plugin).enabled` is "
                #expect(why.output.hasPrefix(begin), "\(why.summary)")
                #expect(why.output.contains(", `accounts.work.plugins.\(plugin).enabled` is "), "\(why.summary)")
                let status = try await larder("--json", "--account", account, "status")
                let found = status.output.firstMatch(
                    of: try Regex("\"id\":\"org.larder.\(plugin)\".*?\"state\":\"([a-z]+)\""))
                #expect(found?.output[1].substring == Substring(state), "\(status.summary)")
            }
            // The value for all accounts is changed, and the account keeps its own.
            for (command, kept) in [("disable", 0), ("enable", 1), ("enable", 1)] {
                let result = try await larder("plugin", command, "available-offline")
                let note =
                    "for the account work it stays disabled, as `accounts.work.plugins.available-offline.enabled`"
                #expect(result.exitCode == 0 && result.errors.contains(note) == (kept == 1), "\(result.summary)")
            }
            #expect(try Files.text(accounts.config).contains("      available-offline: { enabled: false }\n"))
        }
    }

    @Test("H3, H8: what is wrong for one account is an error of the config with its place, and a reload keeps the old")
    func mistakes() async throws {
        try await withAccounts { accounts, write in
            try write(
                "\(Self.recorder): { settings: { mach: x } }", "vacuum: { enabled: true, after: 7dd, library: /x.so }")
            let first = try await accounts.larder("config", "validate")
            #expect(first.exitCode == 78, "\(first.summary)")
            for problem in [
                ":14:43: there is no setting `accounts.work.plugins.\(Self.recorder).settings.mach`; "
                    + "did you mean `match`?",
                ":15:44: `accounts.work.plugins.vacuum.library` cannot be different for one account; "
                    + "set `plugins.vacuum.library`, which holds for all accounts",
            ] {
                #expect(first.errors.contains(accounts.config + problem), "\(first.summary)")
            }
            try write("vacuum: { after: 7dd }", "version-updates: { enabled: true, aftr: 1 }")
            for words in [["config", "validate"], ["run", "--once"]] {
                let result = try await accounts.larder.run(words)
                #expect(result.exitCode == 78, "\(words)\n\(result.summary)")
                for problem in [
                    ":14:24: `accounts.work.plugins.vacuum.after` is not a",
                    ":15:41: there is no setting `accounts.work.plugins.version-updates.aftr`",
                ] {
                    #expect(result.errors.contains(accounts.config + problem), "\(words)\n\(result.summary)")
                }
            }
            #expect(accounts["home"].requests.isEmpty)
            let why = try await accounts.larder("plugin", "why", "vacuum")
            #expect(why.output.contains("vacuum is refused: settings: `after` of the account work is not a duration"))
        }
    }

    @Test("H8: a reload that changes one account's settings of plugins restarts that account and no other")
    func reload() async throws {
        try await withAccounts { accounts, write in
            try write()
            let host = try accounts.start()
            func until(_ copies: [String]) async throws {
                try await soon("the copies are there", beside: host, log: accounts.log) {
                    try self.copies(accounts, "work") == copies && self.copies(accounts, "home") == ["a"]
                }
            }
            try await until(["a"])
            try write("\(Self.recorder): { settings: { match: \"path == '/b'\" } }")
            #expect(try await accounts.reload(host).contains("reloaded: work restarted; home unchanged"))
            try await until(["a", "b"])
            try write("\(Self.recorder): { settings: { match: \"path == '/c'\" }, enabled: false }")
            #expect(try await accounts.reload(host).contains("reloaded: work restarted; home unchanged"))
            try write("\(Self.recorder): { settings: { match: \"path == '/c'\" } }", "vacuum: { after: 7dd }")
            #expect(try await accounts.reload(host).contains(":15:24: `accounts.work.plugins.vacuum.after` is not"))
            #expect(try copies(accounts, "work") == ["a", "b"])
            try write("\(Self.recorder): { settings: { match: \"path == '/c'\" } }")
            #expect(try await accounts.reload(host).contains("reloaded: work restarted; home unchanged"))
            try await until(["a", "b", "c"])
            // A library that is opened for it concerns all.
            try write("version-updates: { enabled: true }")
            #expect(try await accounts.reload(host).contains("reloaded: home, work restarted"))
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }
}
