import DemoServer
import TestServer
import TestSupport
import Testing

/// Changes of a folder with very many items that are taken back before the server has made them.
struct CancelledFolderTests {
    private static let folders = 100
    private static let filesEach = 100

    @Test(
        "S19, P23: the deletion and the move of a folder of 10,000 are taken back exactly, with all that is known of it",
        arguments: [["rm", "--queue", "/big"], ["mv", "--queue", "/big", "/other/deep"]])
    func takenBack(_ change: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for number in 0..<Self.folders {
                    for file in 0..<Self.filesEach {
                        server.tree.put("/big/d\(number)/f\(file)", "\(number) \(file)", modified: 1_600_000_000)
                    }
                }
                server.tree.put("/other/x", "x", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                for command in [
                    ["run", "--once"], ["favorite", "/big/d1/f3"], ["favorite", "/big/d2"], ["pin", "/big/d3"],
                    ["get", "/big/d4/f4"], ["run", "--once"],
                    ["claim", "add", "/big/d4/f4", "--type", "read", "--id", "mine"],
                ] {
                    let result = try await account.larder.run(command)
                    try #require(result.exitCode == 0, "\(command): \(result.summary)")
                }
                let before = try await state(of: account)
                #expect(before[0].count == Self.folders * (Self.filesEach + 1) + 3)
                #expect(before[1].count == Self.filesEach + 1)

                let queued = try await account.larder.run(change)
                #expect(queued.exitCode == 0, "\(queued.summary)")
                #expect(try await account.larder("stat", "/big/d1/f3").exitCode == 66)
                let record = try #require(
                    try await account.larder("sync", "list").lines.first?.split(separator: " ").first)
                let cancel = try await account.larder("sync", "cancel", String(record))
                #expect(cancel.exitCode == 0, "\(cancel.summary)")
                let after = try await state(of: account)
                for (one, other) in zip(before, after) where one != other {
                    Issue.record("\(other.difference(from: one).prefix(20).map { "\($0)" }.joined(separator: "\n"))")
                }

                server.forgetRequests()
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(server.count("DELETE") == 0 && server.count("MOVE") == 0)
                #expect(server.tree.bytes(of: "/big/d3/f7") != nil && !server.tree.paths.contains("/other/deep"))
                #expect(try await state(of: account)[1] == before[1])
            }
        }
    }

    /// Returns what is known and what is here: the items, the files, the policies and the claims.
    private func state(of account: Account) async throws -> [[String]] {
        [
            try await account.larder("--json", "ls", "-r", "--removed").lines, try account.localFiles().sorted(),
            try await account.larder("policy", "list").lines, try await account.larder("claim", "list").lines,
        ]
    }
}
