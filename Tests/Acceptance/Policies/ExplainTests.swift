import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The commands that tell a person what plugins would do.
@Suite(.serialized) struct ExplainTests {
    private static let expiry = #"!removed && cloudStatus == "localCopy" && lastUsed < now - duration("168h")"#

    private func withAccount(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/wilful.so"
            try await CompiledPlugin.build("wilful", to: library)
            let settings = [
                "plugins:", "  org.example.wilful:", "    { library: \"\(library)\", isolation: in-process,",
                "      settings: { cleanup: '\(Self.expiry)', triggers: '2' } }",
            ]
            try await TestServer.running { server in
                for name in ["cat", "dog"] { server.tree.put("/Photos/\(name).jpg", name) }
                server.tree.put("/other.txt", "other")
                try await body(server, try Account(in: folder, server, settings: settings))
            }
        }
    }

    private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    /// Returns everything that commands print about the account. A dry run must not change this output.
    private func state(_ account: Account) async throws -> [String] {
        var lines: [String] = []
        for words in [
            ["ls", "-r", "--removed"], ["policy", "list", "--internal"], ["sync", "list"], ["issue", "list"],
        ] {
            lines += try await account.larder.run(["--json"] + words).lines
        }
        return lines
    }

    @Test("P54: a dry run names who would do what with which item, without a server, and changes nothing")
    func dryRun() async throws {
        try await withAccount { server, account in
            #expect(try await account.larder("policy", "run", "--dry-run").exitCode == 66)
            _ = try await must(account, "run", "--once")
            _ = try await must(account, "pin", "/Photos")
            let before = try await state(account)
            await server.stop()
            let run = try await must(account, "--json", "policy", "run", "--dry-run")
            #expect(
                run.lines
                    == ["/Photos", "/Photos/cat.jpg", "/Photos/dog.jpg"].map {
                        """
                        {"plugin":"org.larder.available-offline","call":"performAction",\
                        "path":"\($0)","would":"download"}
                        """
                    })
            let text = try await must(account, "policy", "run", "--trigger", "policiesChanged", "--dry-run")
            #expect(text.lines.count == 3 && text.output.contains("download"), "\(text.summary)")
            #expect(try await state(account) == before)
            #expect(try account.localFiles() == [])
            for trigger in ["itemsChanged", "policiesChange", "x"] {
                let result = try await account.larder("policy", "run", "--trigger", trigger, "--dry-run")
                #expect(result.exitCode == 64 && result.errors.contains("itemListUpdateCompleted"), "\(result.summary)")
            }
        }
    }

    @Test("P54: explain says for each plugin what it would do with an item, why, and when, beside a running host too")
    func explain() async throws {
        try await withAccount { server, account in
            _ = try await must(account, "pin", "/Photos")
            _ = try await must(account, "run", "--once")
            let stat = try await must(account, "--json", "stat", "/Photos/cat.jpg").output
            let used = try #require(stat.split(separator: "\"lastUsed\":\"").last?.prefix { $0 != "\"" })

            let fault = server.add(Fault(.hold(), method: "PROPFIND"))
            let host = try account.larder.start(["run"])
            await server.untilHeld(fault)
            let cat = try await must(account, "--json", "explain", "/Photos/cat.jpg")
            server.remove(fault)
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            #expect(cat.lines.count == 5)
            #expect(
                cat.lines[0].hasPrefix(
                    """
                    {"plugin":"org.larder.available-offline","kind":"availableOffline",\
                    "matches":false,"cleanup":false,"because":"
                    """
                ) && cat.lines[0].contains(#""would":null,"when":null,"policies":[""#), "\(cat.summary)")
            #expect(
                cat.lines[4].hasPrefix(
                    #"{"plugin":"org.example.wilful","kind":"wilful","matches":false,"cleanup":false,"#
                        + #""because":"lastUsed < now - duration(\"168h\")","would":"removeLocalCopy","when":"20"#),
                "\(cat.summary)")
            // The time is a week later, at the same time of day.
            #expect(
                cat.lines[4].contains("\(used.dropFirst(10))\",\"policies\":[],\"says\":null}"),
                "\(used) \(cat.summary)")

            let text = try await must(account, "explain", "Photos/cat.jpg").lines
            #expect(text[0] == "/Photos/cat.jpg")
            let minute = used.dropFirst(11).prefix(5)
            #expect(text.last?.contains("expires 20") == true, "\(text)")
            #expect(text.last?.contains(" at the first scan after \(minute)") == true, "\(text)")

            let other = try await must(account, "--json", "explain", "/other.txt")
            #expect(other.lines[0].contains(#""would":null"#) && other.lines[0].contains(#""policies":[]"#))
            #expect(try await account.larder("explain", "/nosuch").exitCode == 66)
            #expect(try await account.larder("explain", "/a//b").exitCode == 65)
            server.tree.remove("/other.txt")
            _ = try await must(account, "run", "--once")
            let removed = try await must(account, "explain", "/other.txt")
            #expect(removed.lines.first == "/other.txt (removed)", "\(removed.summary)")
        }
    }

    @Test(
        "P54: what was fetched by hand is told to expire, and what is gone from the server to be forgotten, with the time"
    )
    func expiry() async throws {
        try await withAccount { server, account in
            _ = try await must(account, "run", "--once")
            _ = try await must(account, "get", "/other.txt")
            let file = try await must(account, "--json", "stat", "/other.txt").output
            let used = try #require(file.split(separator: "\"lastUsed\":\"").last?.prefix { $0 != "\"" })
            func lines(of plugin: String, _ path: String, _ more: String...) async throws -> [String] {
                try await account.larder.run(more + ["explain", path]).lines.filter { $0.contains(plugin) }
            }
            let json = try await lines(of: "org.larder.download-expiration", "/other.txt", "--json")
            #expect(
                json.count == 1 && json[0].contains(#""cleanup":false"#)
                    && json[0].contains(#""would":"removeLocalCopy""#))
            #expect(json[0].contains("\(used.dropFirst(10))\",\"policies\""), "\(used) \(json)")
            let text = try await lines(of: "download-expiration", "/other.txt")
            #expect(text[0].contains("  expires 20"), "\(text)")
            #expect(text[0].contains(" at the first scan after \(used.dropFirst(11).prefix(5))"), "\(used) \(text)")

            server.tree.remove("/Photos/cat.jpg")
            _ = try await must(account, "run", "--once")
            let gone = try await lines(of: "vacuum", "/Photos/cat.jpg")
            #expect(
                gone[0].contains("forgets it and removes its copy 20") && gone[0].contains(" at the first scan after "),
                "\(gone)")
            #expect(gone[0].contains("because of removedAt < now - "), "\(gone)")
        }
    }

    @Test(
        "P54: what a plugin says is one line in which nothing moves the cursor; one that fails at it spoils nothing")
    func ownWords() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a.txt", "a")
                let library = "\(folder)/talker.so"
                try await CompiledPlugin.build("talker", to: library)
                func account(says: String) throws -> Account {
                    try Account(
                        in: folder, server,
                        settings: [
                            "plugins:", "  org.example.talker:",
                            "    { library: \"\(library)\", isolation: in-process,",
                            "      settings: { says: '\(says)', triggers: '2' } }",
                        ])
                }
                _ = try await must(try account(says: ""), "run", "--once")
                let hostile = try account(says: "hostile")
                let shown = #"\u001b[2J\u001b]0;x\u0007 a\r\nvacuum  \u009b1A\u202eback\u0008"#
                let text = try await must(hostile, "explain", "/a.txt")
                #expect(text.lines.last?.hasSuffix("  it says: \(shown)") == true, "\(text.summary)")
                let json = try await must(hostile, "--json", "explain", "/a.txt")
                #expect(json.lines.last?.hasSuffix(#","policies":[],"says":"\#(shown)"}"#) == true, "\(json.summary)")
                let huge = try await must(try account(says: "huge"), "explain", "/a.txt")
                #expect(huge.lines.last?.hasSuffix("  it says: xx" + String(repeating: "€", count: 340) + "…") == true)

                let failing = try await must(try account(says: "failure"), "--json", "explain", "/a.txt")
                #expect(failing.lines.count == 5 && failing.lines.last?.hasSuffix(#""says":null}"#) == true)
                #expect(failing.errors.contains("explain of /a.txt failed: the archive is not mounted"), "\(failing)")
                let writing = try await must(try account(says: "writes"), "explain", "/a.txt")
                #expect(writing.lines.last?.hasSuffix("  it says: 19 of 19 refused") == true, "\(writing.summary)")
                #expect(try await must(hostile, "--json", "sync", "list").lines == [])
                #expect(try await must(hostile, "--json", "policy", "list").lines == [])
            }
        }
    }

    @Test("P26: one trigger can be run without a server: copies that nothing keeps go, downloads wait for the next run")
    func oneTrigger() async throws {
        try await withAccount { server, account in
            _ = try await must(account, "pin", "/Photos/cat.jpg")
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/cat.jpg"])
            _ = try await must(account, "unpin", "/Photos/cat.jpg")
            _ = try await must(account, "pin", "/Photos/dog.jpg")
            server.forgetRequests()
            let run = try await must(account, "policy", "run", "--trigger", "policiesChanged")
            #expect(run.output.contains("1 action waits for the running host or the next"), "\(run.summary)")
            #expect(server.requests.isEmpty)
            #expect(try account.localFiles() == [])
            let json = try await must(account, "--json", "policy", "run")
            #expect(json.output == #"{"account":"home","trigger":"itemListUpdateCompleted","leftCount":1}"# + "\n")
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/dog.jpg"])
        }
    }
}
