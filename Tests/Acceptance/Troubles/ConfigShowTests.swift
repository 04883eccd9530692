import TestServer
import TestSupport
import Testing

/// The settings that `config show` prints for a person.
@Suite(.serialized) struct ConfigShowTests {
    private func withAccount(plugins: [String], _ body: (Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                try await body(try Account(in: folder, server, settings: ["plugins:"] + plugins))
            }
        }
    }

    /// Returns the keys, values and sources as `config show --json` prints them. The keys are without the plugin's key.
    private func shown(_ result: ProcessResult, of plugin: String) -> [String] {
        let begin = #"{"key":"plugins.\#(plugin)."#
        return result.lines.filter { $0.hasPrefix(begin) }.map { String($0.dropFirst(begin.count)) }
    }

    @Test("H3: what a plugin is set to is shown with the defaults of the settings that the config leaves out")
    func defaultsOfPlugins() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/recorder.so"
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-shared", "-fPIC", "-I", "\(Build.root)/SDK/C/include",
                    "\(Build.root)/Tests/Support/Plugins/recorder.c", "-o", library,
                ])
            let plugins = [
                "  download-expiration: { ignore-readers: [restic] }", "  vacuum: { enabled: false }",
                "  org.example.recorder:", "    library: \"\(library)\"", "    isolation: in-process",
                "    settings: { match: 'true' }", "  org.example.none: { library: /none.so, settings: { a: 1 } }",
                "  org.example.apart: { library: \"\(library)\", settings: { a: 1 } }",
                "  available-offline: { keep-downloads: 5 }",
            ]
            try await withAccount(plugins: plugins) { account in
                let file = "\(account.folder)/config.yaml"
                var larder = account.larder
                larder.environment = ["LARDER_POLL": "30s", "LARDER_PLUGINS_DOWNLOAD_EXPIRATION_OFFLINE": "false"]
                let result = try await larder("--json", "config", "show")
                #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result.summary)")
                #expect(
                    result.lines.contains(#"{"key":"poll","value":"30s","source":"LARDER_POLL"}"#), "\(result.summary)")
                let expiration = shown(result, of: "download-expiration")
                #expect(
                    expiration.suffix(3) == [
                        #"ignore-readers","value":["restic"],"source":"\#(file):8:42"}"#,
                        #"offline","value":false,"source":"LARDER_PLUGINS_DOWNLOAD_EXPIRATION_OFFLINE"}"#,
                        #"after","value":"7d","source":"default"}"#,
                    ], "\(expiration)")
                let recorder = shown(result, of: "org.example.recorder")
                #expect(
                    recorder.suffix(3) == [
                        #"settings.match","value":"true","source":"\#(file):13:24"}"#,
                        #"settings.log","value":"/dev/null","source":"default"}"#,
                        #"settings.cleanup","value":"","source":"default"}"#,
                    ], "\(recorder)")
                #expect(shown(result, of: "version-updates").allSatisfy { $0.hasSuffix(#""source":"default"}"#) })
                // For a plugin that is disabled, missing, refused or set wrongly, only the settings in the file are
                // shown.
                #expect(!shown(result, of: "vacuum").contains { $0.hasPrefix("after") })
                for (plugin, last) in [
                    ("org.example.none", #"settings.a","value":1,"source":"\#(file):14:57"}"#),
                    ("available-offline", #"keep-downloads","value":5,"source":"\#(file):16:40"}"#),
                ] {
                    #expect(shown(result, of: plugin).last == last, "\(shown(result, of: plugin))")
                }
                #expect(shown(result, of: "org.example.apart").last?.hasPrefix(#"settings.a","value":1,"#) == true)

                let info = try await larder("plugin", "info", "download-expiration")
                #expect(info.output.contains("download-expiration.after = \"7d\"  (default)\n"), "\(info.summary)")
            }
        }
    }
}
