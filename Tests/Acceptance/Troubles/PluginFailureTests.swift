import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The places that show a person that a plugin failed.
@Suite(.serialized) struct PluginFailureTests {
    private static let plugin = "org.example.wilful"

    /// Runs the body with an account that has the plugin.
    /// - Parameters:
    ///   - settings: the plugin's settings, as in the config, such as `mode: fails`.
    ///   - hasLibrary: whether the library exists at the path that the config names.
    private func withPlugin(
        _ settings: String, defines: [String] = [], hasLibrary: Bool = true, more: [String] = [],
        _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/wilful.so"
            if hasLibrary { try await CompiledPlugin.build("wilful", to: library, defines: defines) }
            try await TestServer.running { server in
                for name in ["a", "b", "c"] { server.tree.put("/\(name)", name) }
                let account = try Account(
                    in: folder, server,
                    settings: [
                        "plugins:", "  \(Self.plugin):", "    library: \"\(library)\"", "    isolation: in-process",
                        "    settings: { \(settings) }",
                    ] + more)
                try await body(server, account)
            }
        }
    }

    private static let wanted = #"match: 'type == "file" && cloudStatus == "cloudOnly"'"#

    @Test(
        "G19: a run in which a plugin failed ends with 1, and `plugin why` and `list` say what it said",
        arguments: [
            ("mode: fails, \(wanted)", "3 failed calls, the first: performAction of /a failed: failed"),
            ("match: 'size > '", "the policy condition for itemListUpdateCompleted is not valid"),
            ("mode: no start", "it did not start: the archive is not mounted"),
            (
                "mode: undeclared",
                """
                it did not start: unsupported; it asked for the service larder.clock/1, \
                which its description names neither
                """
            ),
        ])
    func failure(settings: String, said: String) async throws {
        try await withPlugin(settings) { _, account in
            let run = try await account.larder("run", "--once")
            #expect(run.exitCode == 1 && run.errors.contains(said), "\(run.summary)")
            // There is not a line for each item.
            #expect(!run.errors.contains("performAction of /b"), "\(run.summary)")
            let why = try await account.larder("plugin", "why", Self.plugin)
            #expect(why.output.contains(said), "\(why.summary)")
            let list = try await account.larder("--json", "plugin", "list")
            #expect(
                list.lines.contains { $0.contains(Self.plugin) && $0.contains("the last run") }, "\(list.summary)")
            // A reason that the last run recorded for another config is no longer shown.
            try Files.write(
                try Files.text("\(account.folder)/config.yaml").replacing(settings, with: Self.wanted),
                to: "\(account.folder)/config.yaml", mode: 0o600)
            let after = try await account.larder("plugin", "why", Self.plugin)
            #expect(!after.output.contains("the last run"), "\(after.summary)")
            let again = try await account.larder("run", "--once")
            #expect(again.exitCode == 0, "\(again.summary)")
        }
    }

    @Test("G19: a run without a library that the config names ends with 1")
    func missing() async throws {
        try await withPlugin("mode: x", hasLibrary: false) { _, account in
            let run = try await account.larder("run", "--once")
            #expect(run.exitCode == 1, "\(run.summary)")
            #expect(run.errors.contains("the plugin \(Self.plugin) is missing: no library is there"), "\(run.summary)")
            let why = try await account.larder("plugin", "why", Self.plugin)
            #expect(why.output.contains("is missing: no library is there"), "\(why.summary)")
        }
    }

    @Test("G19: `plugin list` beside a running host says that a plugin is degraded, and what is wrong")
    func running() async throws {
        try await withPlugin("mode: fails, \(Self.wanted)", more: ["poll: 1s"]) { _, account in
            let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
            var list = ""
            try await soon("it is degraded", beside: host) {
                list = try await account.larder("plugin", "list").output
                // The mistakes are counted before their text is known, which is at the end of the run of calls.
                return list.contains("degraded") && list.contains("performAction of /a failed")
            }
            let json = try await account.larder("--json", "status")
            #expect(json.output.contains(#""state":"degraded""#), "\(json.summary)")
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    @Test("P60: a download that its plugin does not cover is dropped with the reason in the log and in the trace")
    func dropped() async throws {
        try await withPlugin("mode: uncovered, \(Self.wanted)") { server, account in
            let trace = "\(account.folder)/trace"
            let run = try await account.larder("run", "--once", "--trace", trace)
            #expect(server.requests.paths(of: "GET").filter { $0.count == 2 } == [], "\(run.summary)")
            let why = "neither a policy nor the plugin itself covers it"
            #expect(run.errors.contains("for \(Self.plugin) was dropped: \(why)"), "\(run.summary)")
            let lines = try Files.text(trace).split(separator: "\n").filter { $0.contains(#""phase":"dropped""#) }
            for path in ["/a", "/b", "/c"] {
                #expect(
                    lines.contains {
                        $0.contains(#""what":"download","text":"\#(path)","because":"\#(why)""#)
                    }, "\(lines)")
            }
        }
        // A plugin that learns its coverage in willEnterTrigger covers the items, and no policy is stored.
        try await withPlugin("mode: learns, \(Self.wanted)") { _, account in
            let run = try await account.larder("run", "--once")
            #expect(run.exitCode == 0, "\(run.summary)")
            #expect(try account.localFiles() == ["a", "b", "c"])
        }
    }

    @Test("What a plugin writes to standard output goes to standard error, and never between lines of --json")
    func output() async throws {
        try await withPlugin("mode: prints, \(Self.wanted)") { _, account in
            let run = try await account.larder("--json", "run", "--once")
            #expect(run.exitCode == 0, "\(run.summary)")
            #expect(run.lines.count == 1 && run.lines.first?.hasPrefix(#"{"account":"#) == true, "\(run.summary)")
            #expect(run.errors.contains("the plugin's own line about /a\n"), "\(run.summary)")
        }
    }

    @Test("`config validate` says when a plugin's schema is wrong")
    func schema() async throws {
        try await withPlugin("mode: x", defines: ["BAD_SCHEMA"]) { _, account in
            let result = try await account.larder("config", "validate")
            let said = "the setting `mode` has no known type"
            #expect(result.exitCode == 78 && result.errors.contains(said), "\(result.summary)")
            #expect(result.errors.contains("config.yaml:9:5: "), "\(result.summary)")
            // A host runs without the plugin.
            let run = try await account.larder("run", "--once")
            #expect(run.exitCode == 1 && run.errors.contains(said), "\(run.summary)")
        }
    }

    @Test("G2: a library that was found is enabled by the name that the list has for it")
    func found() async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/plugins")
            try await CompiledPlugin.build("wilful", to: "\(folder)/plugins/odd name.so")
            try await TestServer.running { server in
                let account = try Account(
                    in: folder, server, settings: ["plugins:", "  paths: [\"\(folder)/plugins\"]"])
                let list = try await account.larder("plugin", "list")
                #expect(list.output.contains("odd name.so"), "\(list.summary)")
                let enabled = try await account.larder("plugin", "enable", "odd name.so")
                #expect(enabled.exitCode == 0, "\(enabled.summary)")
                #expect(
                    enabled.output == "\(Self.plugin) is enabled\n", "\(enabled.summary)")
                // A person has to say that the plugin may run inside the host.
                #expect(enabled.errors.contains("set isolation: in-process"), "\(enabled.summary)")
                let hint = "plugin enable \(Self.plugin) --in-process"
                #expect(enabled.errors.contains("`larder \(hint)` writes that"), "\(enabled.summary)")
                let config = try Files.text("\(folder)/config.yaml")
                let line = "  \(Self.plugin): { enabled: true, library: \"\(folder)/plugins/odd name.so\" }\n"
                #expect(config.contains(line), "\(config)")
                let trusted = try await account.larder.run(hint.split(separator: " ").map(String.init))
                #expect(trusted.exitCode == 0, "\(trusted.summary)")
                #expect(trusted.errors.contains("can do everything that the host can do: read and change all files"))
                #expect(try Files.text("\(folder)/config.yaml").contains("isolation: in-process"))
                let why = try await account.larder("plugin", "why", Self.plugin)
                #expect(why.output.contains("is ready"), "\(why.summary)")
                let unknown = try await account.larder("plugin", "enable", "other.so")
                #expect(unknown.exitCode == 66, "\(unknown.summary)")
            }
        }
    }
}
