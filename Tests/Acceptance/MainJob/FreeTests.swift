import DemoServer
import TestServer
import TestSupport
import Testing

/// Copies that a person frees or uses.
@Suite(.serialized) struct FreeTests {
    private func withCopies(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b", "Sub/c", "Sub/d"] { server.tree.put("/Docs/\(name)", "content of \(name)") }
                server.tree.makeFolder("/Docs/Empty/Too")
                let account = try Account(in: folder, server)
                let got = try await account.larder("get", "/")
                #expect(got.exitCode == 0, "\(got.summary)")
                try await body(server, account)
            }
        }
    }

    private func expect(
        _ account: Account, _ arguments: String..., exits code: Int32, naming names: String...
    )
        async throws
    {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == code, "\(arguments)\n\(result.summary)")
        for name in names { #expect(result.errors.contains(name), "\(name)\n\(result.summary)") }
    }

    @Test("H5: copies go without a server, of a folder all with the folders then empty; on the server all stays")
    func frees() async throws {
        try await withCopies { server, account in
            await server.stop()
            try await expect(account, "free", "/Docs/a", exits: 0)
            #expect(try account.localFiles() == ["Docs/Sub/c", "Docs/Sub/d", "Docs/b"])
            #expect(try ItemLine(await account.larder("--json", "stat", "/Docs/a")).cloudStatus == "cloudOnly")
            try await expect(account, "free", "/Docs/a", exits: 0)
            let json = try await account.larder("--json", "free", "/Docs/Sub")
            #expect(Set(json.lines) == [#"{"path":"/Docs/Sub/c"}"#, #"{"path":"/Docs/Sub/d"}"#], "\(json.summary)")
            #expect(!Files.exists("\(account.files)/Docs/Sub") && Files.exists("\(account.files)/Docs/Empty/Too"))
            try await expect(account, "free", "/", exits: 0)
            #expect(try Files.names(in: account.files) == [])
            #expect(server.tree.exists("/Docs/a") && server.tree.exists("/Docs/Sub/c"))
            try await expect(account, "free", "/nothing", exits: 66)
        }
    }

    @Test("What is pinned is refused with the policy named; beside it all else goes")
    func pinned() async throws {
        try await withCopies { _, account in
            try await expect(account, "pin", "/Docs/Sub", exits: 0)
            for path in ["/Docs/Sub", "/Docs/Sub/c"] {
                try await expect(account, "free", path, exits: 65, naming: "policy /Docs/Sub", "larder unpin /Docs/Sub")
            }
            #expect(try account.localFiles().count == 4)
            try await expect(account, "free", "/Docs", exits: 65, naming: "policy /Docs/Sub")
            #expect(try account.localFiles() == ["Docs/Sub/c", "Docs/Sub/d"])
        }
    }

    @Test("What was changed here or is claimed stays, is named, and leaves nothing to be done; all else goes")
    func stays() async throws {
        try await withCopies { _, account in
            try Files.write("mine", to: "\(account.files)/Docs/a")
            try Files.write("mine alone", to: "\(account.files)/Docs/new")
            try await expect(account, "claim", "add", "/Docs/b", "--type", "delete", "--id", "job", exits: 0)
            try await expect(
                account, "free", "/Docs", exits: 1, naming: "/Docs/a", "/Docs/b is claimed (delete, job)", "/Docs/new")
            #expect(try account.localFiles() == ["Docs/a", "Docs/b", "Docs/new"])
            #expect(try account.text("Docs/a") == "mine")
            #expect(try await account.larder("--json", "sync", "list").output == "")
            try await expect(account, "claim", "remove", "job", exits: 0)
            try await expect(account, "free", "/Docs/b", exits: 0)
            try await expect(account, "free", "/Docs/a", exits: 1, naming: "/Docs/a")
        }
    }

    @Test("P37 H5: use marks a file, or all copies below a folder, as used now")
    func use() async throws {
        try await withCopies { _, account in
            let lastUsed = { (path: String) async throws -> String? in
                try ItemLine(await account.larder("--json", "stat", path)).lastUsed
            }
            let before = try await (lastUsed("/Docs/a"), lastUsed("/Docs/Sub/c"))
            try await expect(account, "use", "/Docs/Sub", exits: 0)
            var after = try await (lastUsed("/Docs/a"), lastUsed("/Docs/Sub/c"))
            #expect(after.0 == before.0 && after.1 != before.1)
            try await expect(account, "use", "/Docs/a", exits: 0)
            after.0 = try await lastUsed("/Docs/a")
            #expect(after.0 != nil && after.0 != before.0)
            let json = try await account.larder("--json", "use", "/")
            #expect(json.output == "{\"path\":\"/\",\"files\":4}\n", "\(json.summary)")
            try await expect(account, "use", "/nothing", exits: 66)
        }
    }
}
