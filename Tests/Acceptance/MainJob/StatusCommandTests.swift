import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder status`, once.
@Suite struct StatusCommandTests {
    private struct Status: Decodable {
        struct Policy: Decodable {
            var path: String?
            var items: Int
            var bytes: Int64
        }

        var connection: String
        var records: [String: Int]
        var policies: [Policy]
        var localCopies: Int
        var localBytes: Int64
        var nextPoll: String?
    }

    private func status(_ account: Account) async throws -> Status {
        let result = try await account.larder("--json", "status")
        try #require(result.exitCode == 0, "\(result.summary)")
        return try JSONDecoder().decode(Status.self, from: Data(result.output.utf8))
    }

    @Test(
        "The status tries no library that a run has tried before",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "counting programs needs strace"))
    func libraries() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                var watched = account.larder
                watched.wrapper = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", "\(folder)/programs"]
                let status = try await watched.run(["status"])
                #expect(status.exitCode == 0 && status.output.contains("vacuum ready"), "\(status.summary)")
                let programs = try Files.text("\(folder)/programs")
                #expect(programs.contains("\"status\"") && !programs.contains("__probe"), "\(programs.prefix(2_000))")
            }
        }
    }

    @Test("H4: the status has connection, records by state, policies with their items and bytes, and the next poll")
    func status() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/Docs/a", "12345")
                server.tree.put("/Docs/b", "123")
                server.tree.put("/other", "not pinned")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("pin", "/Docs").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("put", "\(folder)/mine", "/mine", "--queue").exitCode == 0)
                let before = try await status(account)
                #expect(before.connection != "online" && before.nextPoll == nil)
                #expect(before.records["ready"] == 1 && before.records.values.reduce(0, +) == 1, "\(before)")
                #expect(before.localCopies == 2 && before.localBytes == 8)
                let policy = try #require(before.policies.first)
                #expect(before.policies.count == 1 && policy.path == "/Docs" && policy.bytes == 8, "\(policy)")

                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                #expect(try await account.larder("wait").exitCode == 0)
                let now = try await status(account)
                #expect(now.connection == "online" && now.nextPoll != nil)
                #expect(now.records.values.allSatisfy { $0 == 0 } && now.localCopies == 3)
                #expect(await host.stop() == .code(0))
            }
        }
    }
}
