import TestServer
import TestSupport
import Testing

/// Rules in the config, for a person at the command line.
@Suite(.serialized) struct RulesOnServersTests {
    /// The lines that a person writes.
    private static let podcasts = [
        "  rules: { enabled: true, rules: [",
        "    { name: podcasts, match: 'path.startsWith(\"/Podcasts/\")', keep: newest 5 by lastModified } ] }",
    ]

    @discardableResult private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    /// Replaces what the config says of plugins.
    private func set(_ account: Account, _ plugins: [String]) throws {
        let config = try Files.text("\(account.folder)/config.yaml")
        let rest = config.split(separator: "\n").prefix { $0 != "plugins:" }.map(String.init)
        try Files.write(
            (rest + ["plugins:"] + plugins).joined(separator: "\n") + "\n", to: "\(account.folder)/config.yaml",
            mode: 0o600)
    }

    private func withAccount(
        _ program: RealServer.Program, _ body: (RealServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/data")
            try await withServer(program, data: "\(folder)/data", options: Account.withLogin) { server in
                for day in 1...7 {
                    try await server.put("Podcasts/A/\(day)", "A\(day)", modified: 1_600_000_000 + 86_400 * day)
                    try await server.put("Podcasts/B/\(day)", "B\(day)", modified: 1_600_000_000 - 86_400 * day)
                }
                try await server.put("Podcasts/B/deep/one", "one", modified: 1_600_000_000)
                try await server.put("other", "other", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                try set(account, Self.podcasts)
                try await body(server, account)
            }
        }
    }

    private func here(_ account: Account, _ folder: String = "A") throws -> [String] {
        let prefix = "Podcasts/\(folder)/"
        return try account.localFiles().filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    @Test(
        "Two lines of the config keep the newest five of each folder of /Podcasts here",
        arguments: RealServer.Program.allCases)
    func newest(_ program: RealServer.Program) async throws {
        try await withAccount(program) { server, account in
            try await must(account, "run", "--once")
            #expect(try here(account) == ["3", "4", "5", "6", "7"])
            #expect(try here(account, "B") == ["1", "2", "3", "4", "5", "deep/one"])
            #expect(try account.localFiles().count == 11)
            // The rules are at rest.
            #expect(try await must(account, "policy", "run", "--dry-run").lines == [])

            try await server.put("Podcasts/A/8", "A8", modified: 1_600_000_000 + 86_400 * 8)
            try await must(account, "run", "--once")
            #expect(try here(account) == ["4", "5", "6", "7", "8"])
            Files.remove("\(server.data)/Podcasts/A/8")
            try await must(account, "run", "--once")
            // Vacuum removes the copy of what is gone from the server a minute later.
            #expect(try here(account).filter { $0 != "8" } == ["3", "4", "5", "6", "7"])

            let away = try await must(account, "explain", "/Podcasts/A/1")
            #expect(
                away.output.contains(
                    #"it says: the rule "podcasts" keeps it away, as number 7 by lastModified in /Podcasts/A, "#
                        + #"where it keeps 5 here, because path.startsWith("/Podcasts/")"#),
                "\(away.summary)")
            let kept = try await must(account, "explain", "/Podcasts/A/7")
            #expect(kept.output.contains("keeps it here, as number 1 by lastModified"), "\(kept.summary)")
            let expires =
                #"download-expiration  nothing: the item would have to meet downloadTrigger != "org.larder.rules""#
            #expect(kept.output.contains(expires), "\(kept.summary)")

            // Without the rule its copies go.
            try set(account, ["  rules: { enabled: true, rules: [] }"])
            try await must(account, "run", "--once")
            #expect(try account.localFiles().filter { $0 != "Podcasts/A/8" } == [])
        }
    }

    @Test("A pin, a claim and a change here come before a rule that keeps a file away")
    func before() async throws {
        try await withAccount(.rclone) { server, account in
            try set(
                account,
                ["  rules: { enabled: true, rules: [ { name: none, match: 'type == \"file\"', keep: away } ] }"])
            for day in 1...4 { try await must(account, "get", "/Podcasts/A/\(day)") }
            try await must(account, "pin", "/Podcasts/A/1")
            try await must(account, "claim", "add", "/Podcasts/A/2", "--type", "read", "--id", "mine")
            try Files.write("changed", to: "\(account.files)/Podcasts/A/3")
            try await must(account, "run", "--once")
            #expect(try here(account) == ["1", "2", "3"])
            try await must(account, "unpin", "/Podcasts/A/1")
            try await must(account, "claim", "remove", "mine")
            try await must(account, "run", "--once")
            #expect(try here(account) == ["3"])
            #expect(try account.text("Podcasts/A/3") == "changed")
        }
    }

    @Test("A copy that a person fetched becomes the rule's, and the person's again when the rule ends")
    func adopted() async throws {
        try await withAccount(.rclone) { server, account in
            try await must(account, "get", "/Podcasts/A/7")
            try await must(account, "run", "--once")
            let ruled = try await must(account, "--json", "stat", "/Podcasts/A/7")
            #expect(ruled.output.contains(#""downloadTrigger":"org.larder.rules""#), "\(ruled.summary)")
            try set(account, ["  rules: { enabled: true }"])
            try await must(account, "run", "--once")
            let released = try await must(account, "--json", "stat", "/Podcasts/A/7")
            #expect(released.output.contains(#""downloadTrigger":"user""#), "\(released.summary)")
            #expect(try account.localFiles() == ["Podcasts/A/7"])
        }
    }

    @Test("Rules that would fetch and remove a file in turns are named, and do neither")
    func undoing() async throws {
        try await withAccount(.rclone) { server, account in
            try await must(account, "get", "/Podcasts/A/1")
            try set(
                account,
                [
                    "  rules:", "    enabled: true", "    rules:",
                    "      - { name: one, match: 'cloudStatus == \"localCopy\"', keep: away }",
                    "      - { name: two, match: 'path.startsWith(\"/Podcasts/A/\")', keep: here }",
                ])
            for _ in 1...2 {
                let result = try await must(account, "run", "--once")
                #expect(try account.localFiles() == ["Podcasts/A/1"])
                let named =
                    "Rules undo each other, so nothing is done about /Podcasts/A/2 and others like it: "
                    + #"once it is here, the rule "one" decides, and not "two""#
                #expect(result.errors.contains(named), "\(result.summary)")
            }
            let why = try await must(account, "explain", "/Podcasts/A/1")
            #expect(
                why.output.contains(#"nothing is done, because once it is away, the rule "two" brings it back"#),
                "\(why.summary)")
        }
    }

    @Test("Errors in rules name the rule and the place, and nothing is removed for them")
    func errors() async throws {
        try await withAccount(.rclone) { server, account in
            try await must(account, "run", "--once")
            let config = "\(account.folder)/config.yaml"
            let line = try Files.text(config).split(separator: "\n").count - 1
            try set(
                account,
                [
                    "  rules: { enabled: true, rules: [",
                    "    { name: podcasts, match: 'path.startsWith(\"/Podcasts/\" && x', kep: here } ] }",
                ])
            for command in [["config", "validate"], ["run", "--once"]] {
                let result = try await account.larder.run(command)
                #expect(result.exitCode == 78)
                for message in [
                    "\(config):\(line + 1):30: `plugins.rules.rules[1].match` of \"podcasts\" is not a condition: column 30: ",
                    ":67: there is no setting `plugins.rules.rules[1].kep`; did you mean `keep`?",
                    ":5: `plugins.rules.rules[1].keep` of \"podcasts\" is missing",
                ] {
                    #expect((result.output + result.errors).contains(message), "\(message)\n\(result.summary)")
                }
            }
            try set(
                account, ["  rules: { enabled: true, rules: [{ name: p, match: 'true', keep: newest 0 by size }] }"])
            let wrong = try await account.larder.run(["run", "--once"])
            let what = "`plugins.rules.rules[1].keep` of \"p\" is not as it has to be: here, away, or newest N by "
            #expect(wrong.exitCode == 78 && wrong.errors.contains("yaml:\(line):67: \(what)"), "\(wrong.summary)")
            let twice = "{ name: p, match: 'true', keep: away }, { name: p, match: 'true', keep: here }"
            try set(account, ["  rules: { enabled: true, rules: [\(twice)] }"])
            let refused = try await account.larder.run(["run", "--once"])
            #expect(
                refused.exitCode == 1 && refused.errors.contains(#"two rules have the name "p""#),
                "\(refused.summary)")
            #expect(try account.localFiles().count == 11)
        }
    }
}
