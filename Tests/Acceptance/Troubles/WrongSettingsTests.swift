import DemoServer
import TestServer
import TestSupport
import Testing

/// The messages for a person who gives a plugin settings that the plugin does not take.
@Suite(.serialized) struct WrongSettingsTests {
    private func withAccount(
        plugins: [String], _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/cat.jpg", "cat")
                try await body(server, try Account(in: folder, server, settings: ["plugins:"] + plugins))
            }
        }
    }

    @Test("H3: wrong settings of plugins are config errors with their places, all at once, and nothing is done")
    func configErrors() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/recorder.so"
            try await mustRun(
                "cc",
                [
                    "-std=c99", "-shared", "-fPIC", "-I", "\(Build.root)/SDK/C/include",
                    "\(Build.root)/Tests/Support/Plugins/recorder.c", "-o", library,
                ])
            let plugins = [
                "  available-offline: { enabled: true, keep-download: true }", "  download-expiration:",
                "    after: 7dd", "  org.example.recorder:", "    library: \"\(library)\"", "    isolation: in-process",
                "    settings:", "      mach: 'true'", "  vacuum: { enabled: false, aftr: 60s }",
            ]
            try await withAccount(plugins: plugins) { server, account in
                let file = "\(account.folder)/config.yaml"
                let problems = [
                    """
                    \(file):8:39: there is no setting `plugins.available-offline.keep-download`; \
                    did you mean `keep-downloads`?
                    """,
                    """
                    \(file):10:12: `plugins.download-expiration.after` is not a duration: \
                    write it like 500ms, 90s, 10m, 24h or 7d
                    """,
                    """
                    \(file):15:7: there is no setting `plugins.org.example.recorder.settings.mach`; \
                    did you mean `match`?
                    """,
                ]
                let text =
                    "larder: \(problems.joined(separator: "\n"))\n  3 problems in the config; nothing was started\n"
                for words in [["config", "validate"], ["pin", "/"], ["run", "--once"], ["explain", "/"]] {
                    let result = try await account.larder.run(words)
                    #expect(result.exitCode == 78 && result.errors == text, "\(words)\n\(result.summary)")
                }
                #expect(server.requests.isEmpty)
                #expect(!Files.exists(account.vault))
                let json = try await account.larder("--json", "config", "validate")
                #expect(json.lines.last?.hasPrefix("{\"error\":{\"code\":\"config\",") == true, "\(json.summary)")

                // If the file has another mistake, all mistakes are reported. The settings of a plugin whose own part
                // of the config is wrong are not checked.
                try Files.write(
                    Files.text(file).replacing("enabled: true", with: "enabled: maybe") + "walk: soon\n", to: file,
                    mode: 0o600)
                let more = try await account.larder("config", "validate")
                #expect(more.exitCode == 78, "\(more.summary)")
                for place in [":8:33: ", ":10:12: ", ":15:7: ", ":17:7: "] {
                    #expect(more.errors.contains(file + place), "\(place)\n\(more.summary)")
                }
                #expect(more.errors.contains("\n  4 problems in the config"), "\(more.summary)")
            }
        }
    }

    @Test("G2 H3: plugins are told of and switched off though their settings are wrong, and then the rest works")
    func switchOff() async throws {
        let plugins = [
            "  available-offline: { keep-downloads: 5 }   # mine",
            "  org.example.other: { library: /none.so, settings: { a: 1 } }",
        ]
        try await withAccount(plugins: plugins) { _, account in
            let why = try await account.larder("plugin", "why", "available-offline")
            #expect(
                why.exitCode == 0 && why.output.contains("`keep-downloads` must be of type boolean"), "\(why.summary)")
            let list = try await account.larder("plugin", "list")
            #expect(list.exitCode == 0 && list.output.contains("refused"), "\(list.summary)")
            #expect(try await account.larder("run", "--once").exitCode == 78)
            let off = try await account.larder("plugin", "disable", "available-offline")
            #expect(off.exitCode == 0, "\(off.summary)")
            let file = try Files.text("\(account.folder)/config.yaml")
            #expect(file.contains("  available-offline: { enabled: false, keep-downloads: 5 }   # mine\n"), "\(file)")
            // A plugin without a library is not a mistake in its settings, but a run in which an enabled plugin does
            // nothing has not done all of its work.
            for (words, code) in [(["config", "validate"], 0), (["pin", "/"], 0), (["run", "--once"], 1)] {
                let result = try await account.larder.run(words)
                #expect(result.exitCode == Int32(code), "\(words)\n\(result.summary)")
            }
        }
    }

    @Test("C1 H3: an account whose secret is missing is told with its place, and the others run")
    func missingSecret() async throws {
        try await withAccount(plugins: ["  vacuum: { enabled: true }"]) { server, account in
            let file = "\(account.folder)/config.yaml"
            let second = [
                "  - { name: other, url: \"\(server.url)\", username: a, password: { file: none }, vault: other }",
                "plugins:",
            ]
            try Files.write(
                Files.text(file).replacing("plugins:", with: second.joined(separator: "\n")), to: file, mode: 0o600)
            #expect(try await account.larder("--account", "home", "pin", "/").exitCode == 0)
            let run = try await account.larder("run", "--once")
            let column = try #require(second[0].firstRange(of: "none")).lowerBound
            let place = "\(file):7:\(second[0].distance(from: second[0].startIndex, to: column) + 1)"
            #expect(
                run.exitCode == 78
                    && run.errors.contains(
                        """
                        larder: \(place): `accounts.other.password`: \
                        the secret's file \(account.folder)/none cannot be read:\u{20}
                        """
                    ),
                "\(run.summary)")
            #expect(try account.text("cat.jpg") == "cat")
        }
    }
}
