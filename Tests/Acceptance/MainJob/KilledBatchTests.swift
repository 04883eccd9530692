import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Runs that are killed at a system call while small files are downloaded.
@Suite(.serialized, .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"))
struct KilledBatchTests {
    /// How the server answers: so that files come in batches, or one by one.
    enum Way: String, CaseIterable {
        case batches, single

        var configuration: TestServer.Configuration {
            var configuration = TestServer.Configuration()
            if self == .single { configuration.manner.fileETags = .weak }
            return configuration
        }
    }

    private static let names = (0..<12).map { "\($0.isMultiple(of: 2) ? "F" : "G/deep")/\($0)" }

    private func rows(_ account: Account) async throws -> String {
        let code = """
            import sqlite3, sys
            db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
            one = lambda sql: db.execute(sql).fetchone()[0]
            print(one("SELECT count(*) FROM syncRecords"),
                  one("SELECT count(*) FROM items WHERE type = 0 AND cloudStatus = 1"))
            """
        let result = try await run("python3", ["-c", code, "\(account.vault)/larder.db"])
        return result.lines.first ?? result.errors
    }

    /// Every moment is tried with `LARDER_TEST_ROUNDS` set, else some.
    @Test(
        "S25, S14: killed at any call while small files come, each file is whole or absent, and none comes twice",
        arguments: ["openat2", "syncfs", "renameat2", "fdatasync", "pwrite64"], Way.allCases)
    func killed(_ call: String, _ way: Way) async throws {
        let step = SeededGenerator.rounds(usually: 0) > 0 ? 1 : call == "pwrite64" ? 47 : 11
        try await withTemporaryFolder { folder in
            try await TestServer.running(way.configuration) { server in
                for name in Self.names {
                    server.tree.put("/\(name)", Array(name.utf8) + Array(repeating: 7, count: 9_000))
                }
                for moment in stride(from: 1, to: 2_000, by: step) {
                    let account = try Account(in: "\(folder)/\(moment)", server)
                    #expect(try await account.larder("pin", "/").exitCode == 0)
                    var copy = account
                    copy.larder.wrapper = [
                        "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=SIGKILL:when=\(moment)",
                    ]
                    let wasKilled = try await copy.larder("run", "--once").exitCode != 0
                    var complete: Set<String> = []
                    for name in Self.names where Files.exists("\(account.files)/\(name)") {
                        #expect(try Files.read("\(account.files)/\(name)") == server.tree.bytes(of: "/\(name)"))
                        complete.insert("/\(name)")
                    }
                    server.forgetRequests()
                    let result = try await account.larder("run", "--once")
                    #expect(result.exitCode == 0, "killed at \(call) \(moment): \(result.summary)")
                    #expect(try account.localFiles() == Self.names.sorted())
                    for name in Self.names {
                        #expect(try Files.read("\(account.files)/\(name)") == server.tree.bytes(of: "/\(name)"))
                    }
                    #expect(try await rows(account) == "0 12", "\(call) \(moment)")
                    #expect(try Files.names(in: "\(account.vault)/incoming") == [])
                    let fetched = server.requests.paths(of: "GET").filter { complete.contains($0) }
                    #expect(fetched == [], "\(call) \(moment)")
                    Files.remove("\(folder)/\(moment)")
                    // If the run was not killed, it has no further calls of this type.
                    if !wasKilled { break }
                }
            }
        }
    }
}
