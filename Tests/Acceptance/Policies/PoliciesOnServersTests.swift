import TestSupport
import Testing

/// Policies on foreign servers that have no ids for items.
@Suite(.serialized) struct PoliciesOnServersTests {
    private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    private func withAccount(
        _ program: RealServer.Program, _ body: (RealServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/data")
            try await withServer(program, data: "\(folder)/data", options: Account.withLogin) { server in
                for path in ["Photos/a.jpg", "Photos/b.txt", "Music/c.jpg"] {
                    try await server.put(path, path, modified: 1_600_000_000)
                }
                try await body(server, try Account(in: folder, server))
            }
        }
    }

    @Test(
        "P2, P5, P54: policies are added, tried, explained, changed and removed by command",
        arguments: RealServer.Program.allCases)
    func commands(_ program: RealServer.Program) async throws {
        try await withAccount(program) { server, account in
            _ = try await must(
                account, "policy", "add", "--kind", "availableOffline", "--id", "jpegs", "--where",
                #"name.endsWith(".jpg")"#)
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Music/c.jpg", "Photos/a.jpg"])

            _ = try await must(
                account, "policy", "add", "--kind", "availableOffline", "--id", "texts", "--where",
                #"type == "file" && path.startsWith("/Photos/") && size < 100"#)
            let wish = try await must(account, "--json", "policy", "run", "--trigger", "policiesChanged", "--dry-run")
            #expect(
                wish.lines == [
                    """
                    {"plugin":"org.larder.available-offline","call":"performAction",\
                    "path":"/Photos/b.txt","would":"download"}
                    """
                ])
            let explained = try await must(account, "--json", "explain", "/Photos/b.txt")
            #expect(
                explained.lines[0].contains(#""matches":true"#) && explained.lines[0].contains(#""would":"download""#)
                    && explained.lines[0].contains(#""policies":["texts"]"#), "\(explained.summary)")
            #expect(try account.localFiles().count == 2)
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Music/c.jpg", "Photos/a.jpg", "Photos/b.txt"])
            let both = try await must(account, "--json", "policy", "list", "--path", "/Photos/a.jpg")
            #expect(both.lines.count == 2 && both.lines[1].contains(#""items":2,"bytes":24"#), "\(both.summary)")

            _ = try await must(account, "policy", "update", "texts", "--where", #"name == "b.txt""#)
            _ = try await must(account, "policy", "remove", "jpegs")
            _ = try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/b.txt"])
        }
    }

    @Test(
        "P30, P31: a pinned folder that is made anew between two looks stays pinned; gone, it takes its pin along",
        arguments: RealServer.Program.allCases)
    func recreated(_ program: RealServer.Program) async throws {
        try await withAccount(program) { server, account in
            _ = try await must(account, "pin", "/Photos")
            _ = try await must(account, "run", "--once")
            let before = try await must(account, "--json", "policy", "list").lines
            Files.remove("\(server.data)/Photos")
            try await server.put("Photos/new.jpg", "new", modified: 1_600_000_001)
            _ = try await must(account, "run", "--once")
            let after = try await must(account, "--json", "policy", "list").lines
            #expect(after.count == 1 && after[0].prefix(60) == before[0].prefix(60), "\(before) \(after)")
            #expect(try account.text("Photos/new.jpg") == "new")
            Files.remove("\(server.data)/Photos")
            _ = try await must(account, "run", "--once")
            #expect(try await must(account, "--json", "policy", "list").lines == [])
        }
    }
}
