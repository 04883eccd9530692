import DemoServer
import TestServer
import TestSupport
import Testing

/// The version that `put` replaces, as a person names or means it.
struct ReplacedVersionTests {
    private func text(_ server: TestServer) -> String? {
        server.tree.bytes(of: "/f").map { String(decoding: $0, as: UTF8.self) }
    }

    private func etag(_ account: Account) async throws -> String {
        let stat = try await account.larder("--json", "stat", "/f").output
        let tail = try #require(stat.split(separator: #""etag":""#, maxSplits: 1).last)
        // The ETag's own quotation marks are escaped.
        return String(tail.prefix { $0 != "," }.dropLast()).replacing("\\\"", with: "\"")
    }

    @Test("S9 H1: put --replace replaces the version that get --to has copied, and asks where the server has another")
    func copied() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/f", "first", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                let mine = "\(folder)/mine"
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("get", "/f", "--to", mine).exitCode == 0)
                server.tree.put("/f", "a colleague's", modified: 1_600_000_100)
                // The new version is listed, and fetched.
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("get", "/f").exitCode == 0)
                // A copy that fails changes nothing of what the file is known to be.
                let refused = try await account.larder("get", "/f", "--to", "\(mine)/no")
                #expect(refused.exitCode != 0)
                try Files.write("first, edited", to: mine)
                let put = try await account.larder("put", mine, "/f", "--replace")
                #expect(put.exitCode == 1 && text(server) == "a colleague's", "\(put.summary)")
                let issues = try await account.larder("issue", "list")
                #expect(issues.output.contains("upload.conflict"), "\(issues.summary)")
                #expect(
                    try await account.larder("issue", "resolve", "--all", "--code", "upload.conflict", "cancel")
                        .exitCode == 0)
                // With the new version copied, the same is taken.
                #expect(try await account.larder("get", "/f", "--to", mine).exitCode == 0)
                try Files.write("both, edited", to: mine)
                let again = try await account.larder("put", mine, "/f", "--replace")
                #expect(again.exitCode == 0 && text(server) == "both, edited", "\(again.summary)")
            }
        }
    }

    @Test("S9 H1: put --if replaces the version that it names, and no other")
    func named() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/f", "first", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let first = try await etag(account)
                server.tree.put("/f", "a colleague's", modified: 1_600_000_100)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let put = try await account.larder("put", "--if", first, "\(folder)/mine", "/f")
                #expect(put.exitCode == 1 && text(server) == "a colleague's", "\(put.summary)")
                #expect(
                    try await account.larder("issue", "resolve", "--all", "--code", "upload.conflict", "cancel")
                        .exitCode == 0)
                let second = try await etag(account)
                #expect(first != second)
                let again = try await account.larder("put", "--if", second, "\(folder)/mine", "/f")
                #expect(again.exitCode == 0 && text(server) == "mine", "\(again.summary)")
            }
        }
    }
}
