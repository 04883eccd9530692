import TestServer
import TestSupport
import Testing

/// What a plugin keeps in an account, as its author and an operator see it.
@Suite struct PluginKeptTests {
    /// Makes an account in which the test plugin in C has stored values and a record that are no plain text.
    private func withKept(
        _ body: (_ account: Account, _ config: (_ plugins: [String]) throws -> Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("looper", to: "\(folder)/looper.so")
            try await TestServer.running { server in
                let config = { (plugins: [String]) in
                    try Account(in: folder, server, settings: ["plugins:"] + plugins)
                }
                let account = try config([
                    "  org.example.looper:",
                    "    { library: \"\(folder)/looper.so\", isolation: in-process, value-quota: 2MB,",
                    "      settings: { mode: odd, pages: '1' } }",
                ])
                // The first poll fetches everything; the second takes the page.
                for _ in 0..<2 { #expect(try await account.larder("loop", "poll", "looper").exitCode == 0) }
                try await body(account, config)
            }
        }
    }

    @Test("The values of a plugin are shown by key, cut and safe for a terminal, and whole as JSON")
    func values() async throws {
        try await withKept { account, _ in
            let text = try await account.larder("plugin", "values", "org.example.looper")
            #expect(text.exitCode == 0 && text.errors.isEmpty, "\(text.summary)")
            #expect(
                text.lines == [
                    #"    9 B  0x611b5b324a  two\nlines"#, "    1 B  last  1",
                    " 1.0 kB  long  \(String(repeating: "x", count: 120))…", "    2 B  0xff00  0x8001",
                    "4 values, 1027B of 2MB",
                ], "\(text.summary)")
            let json = try await account.larder("--json", "plugin", "values", "org.example.looper")
            let long = String(repeating: "x", count: 1000)
            #expect(
                json.lines == [
                    #"{"key":"a\u001b[2J","keyEncoding":"utf-8","value":"two\nlines","valueEncoding":"utf-8","size":9}"#,
                    #"{"key":"last","keyEncoding":"utf-8","value":"1","valueEncoding":"utf-8","size":1}"#,
                    #"{"key":"long","keyEncoding":"utf-8","value":"\#(long)","valueEncoding":"utf-8","size":1000}"#,
                    #"{"key":"/wA=","keyEncoding":"base64","value":"gAE=","valueEncoding":"base64","size":2}"#,
                    #"{"total":{"values":4,"bytes":1027,"quota":2000000}}"#,
                ], "\(json.summary)")
            let info = try await account.larder("--json", "plugin", "info", "org.example.looper")
            #expect(info.output.contains(#""valueBytes":1027,"valueQuota":2000000"#), "\(info.summary)")
        }
    }

    @Test("The records of a plugin's loops are shown by collection and key, all or those of one collection")
    func records() async throws {
        try await withKept { account, _ in
            let text = try await account.larder("plugin", "records", "org.example.looper")
            #expect(text.exitCode == 0 && text.errors.isEmpty, "\(text.summary)")
            #expect(
                text.lines == [
                    "      -  org.example.looper  count  1  ",
                    #"    3 B  org.example.looper  0x6b1b5b324a  -  {"a":[1,"\u001b"]}"#,
                    #"      -  org.example.looper  page 1  -  {"seen":1}"#,
                    "      -  org.example.looper  refreshed  -  {}", "4 records, 59B of 1GB",
                ], "\(text.summary)")
            let json = try await account.larder(
                "--json", "plugin", "records", "org.example.looper", "org.example.looper")
            #expect(
                json.lines == [
                    #"{"collection":"org.example.looper","key":"count","version":"1","value":null,"contentSize":null}"#,
                    #"{"collection":"org.example.looper","key":"k\u001b[2J","version":null,"value":{"a":[1,"\u001b"]},"contentSize":3}"#,
                    #"{"collection":"org.example.looper","key":"page 1","version":null,"value":{"seen":1},"contentSize":null}"#,
                    #"{"collection":"org.example.looper","key":"refreshed","version":null,"value":{},"contentSize":null}"#,
                    #"{"total":{"records":4,"bytes":59,"quota":null}}"#,
                ], "\(json.summary)")
            let none = try await account.larder("plugin", "records", "org.example.looper", "notes")
            #expect(none.exitCode == 66 && none.output.isEmpty, "\(none.summary)")
            #expect(
                none.errors.contains("keeps no records in a collection `notes`")
                    && none.errors.contains("its collections are: org.example.looper"), "\(none.summary)")
        }
    }

    @Test(
        "A plugin that is gone from the config shows what it left; one that keeps nothing says so; an unknown one is 66"
    )
    func others() async throws {
        try await withKept { _, config in
            let gone = try config(["  vacuum: { enabled: true }"]).larder
            let left = try await gone("plugin", "values", "org.example.looper")
            #expect(left.exitCode == 0 && left.lines.last == "4 values, 1027B of 64MB", "\(left.summary)")
            for command in ["values", "records"] {
                let nothing = try await gone("plugin", command, "vacuum")
                #expect(nothing.exitCode == 0 && nothing.output.isEmpty, "\(nothing.summary)")
                #expect(nothing.errors.contains("vacuum keeps no \(command) in this account"), "\(nothing.summary)")
                let json = try await gone("--json", "plugin", command, "org.larder.vacuum")
                #expect(json.exitCode == 0 && json.lines.count == 1 && json.output.contains("\"\(command)\":0"))
                let unknown = try await gone("plugin", command, "vacum")
                #expect(
                    unknown.exitCode == 66 && unknown.errors.contains("did you mean `vacuum`?"), "\(unknown.summary)")
                let other = try await gone("--account", "away", "plugin", command, "vacuum")
                #expect(other.exitCode == 64, "\(other.summary)")
            }
            let none = try await gone("plugin", "records", "vacuum", "notes")
            #expect(none.exitCode == 66 && none.errors.contains("it keeps no records at all"), "\(none.summary)")
        }
    }
}
