import DemoServer
import Glibc
import Model
import TestServer
import TestSupport
import Testing

/// A plugin's library that is exchanged while a host uses it, and what commands say of a plugin.
@Suite(.serialized) struct ReplacedLibraryTests {
    private let plugin = "org.example.wilful"

    private func withPlugin(_ settings: String, _ body: (Account, TestServer, String) async throws -> Void) async throws
    {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/wilful.so"
            try await CompiledPlugin.build("wilful", to: library)
            try await TestServer.running { server in
                server.tree.put("/a", "a")
                let account = try Account(
                    in: folder, server,
                    settings: [
                        "poll: 1s", "plugins:", "  \(plugin):", "    library: \"\(library)\"",
                        "    isolation: in-process", "    value-quota: 2MB", "    settings: { \(settings) }",
                    ])
                try await body(account, server, library)
            }
        }
    }

    @Test("G42: beside a host whose library was written over, `plugin list` and `why` say so, and the host goes on")
    func replaced() async throws {
        try await withPlugin(#"mode: x, match: 'type == "file"'"#) { account, server, library in
            let log = "\(account.folder)/log"
            let host = try account.larder.start(["run"], errors: log)
            try await account.untilOnline(host)
            try await soon("the first file is here", beside: host, log: log) { try account.localFiles() == ["a"] }
            #expect(try await !account.larder("plugin", "list").output.contains("lies there now"))
            func onDisk() async throws -> String? {
                let list = try await account.larder("--json", "plugin", "list").output
                let line = try #require(list.split(separator: "\n").first { $0.contains("\"\(plugin)\"") })
                guard case .string(let text) = try JSONValue(parsing: String(line))["onDisk"] else { return nil }
                return text
            }
            #expect(try await onDisk() == "same")
            // The same bytes are the same library.
            try await mustRun("sh", ["-c", "touch '\(library)' && cp '\(library)' '\(library).other'"])
            #expect(try await onDisk() == "same")
            try await mustRun("mv", ["\(library).other", library])
            #expect(try await onDisk() == "same")
            #expect(try await !account.larder("plugin", "list").output.contains("lies there now"))
            // Another library that a command can open.
            let copy = "cp '\(library)' '\(library).other' && printf x >> '\(library).other'"
            try await mustRun("sh", ["-c", "\(copy) && truncate -s 0 '\(library)'"])
            server.tree.put("/b", "b")
            try await soon("the plugin goes on", beside: host, log: log) { try account.localFiles() == ["a", "b"] }
            try await mustRun("mv", ["\(library).other", library])
            let said = "another library lies there now; the host goes on with the one that it opened"
            let list = try await account.larder("plugin", "list")
            #expect(list.output.contains(said) && list.output.contains("running"), "\(list.summary)")
            let why = try await account.larder("plugin", "why", plugin)
            #expect(why.output.contains(said), "\(why.summary)")
            #expect(try await onDisk() == "other")
            try await mustRun("mv", [library, "\(library).other"])
            #expect(try await onDisk() == "missing")
            try await mustRun("mv", ["\(library).other", library])
            #expect(await host.stop() == .code(0))
            let after = try await account.larder("plugin", "list")
            #expect(!after.output.contains("lies there now"), "\(after.summary)")
        }
    }

    @Test("G43: `plugin info` tells what a plugin is, asks for, keeps, and may be set to, with YAML to copy")
    func info() async throws {
        try await withPlugin("mode: hoard, match: 'true'") { account, _, library in
            #expect(try await account.larder("run", "--once").exitCode == 0)
            let info = try await account.larder("plugin", "info", plugin)
            for line in [
                "keeps      in home: values 71071B of 2MB, records 0B of 1GB, policies of its kind 0 of 10000",
                "requires   larder.config/1, larder.actions/1, larder.items/1",
                "plugins:", "  \(plugin):", "    library: \"\(library)\"", "    isolation: in-process", "    settings:",
                "      mode: \"\"  # string",
            ] {
                #expect(info.lines.contains { $0.hasPrefix(line) }, "\(line): \(info.summary)")
            }
            let ours = try await account.larder("plugin", "info", "download-expiration")
            #expect(ours.lines.contains { $0.hasPrefix("    after: \"7d\"  # duration") }, "\(ours.summary)")
            let json = try await account.larder("--json", "plugin", "info", plugin)
            for part in [
                #""valueBytes":71071,"valueQuota":2000000,"recordBytes":0,"recordQuota":1000000000,"policies":0,"mostPolicies":10000"#,
                #""schema":{"properties":"#,
                #""requires":["larder.config/1""#, #""key":"plugins.org.example.wilful.settings.mode","value":"hoard""#,
            ] {
                #expect(json.output.contains(part), "\(part): \(json.summary)")
            }
        }
    }
}
