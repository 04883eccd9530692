import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A new file at the path of a file that the server no longer has, but whose copy is still here. The new file takes the
/// copy over in the transaction that journals the landing; then the copy and the downloaded file are exchanged. The
/// process is killed in between.
@Suite(.serialized, .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"))
struct KilledReplacementTests {
    private static let names = ["a", "b"]

    /// Returns an account that has copies of files, each of which has then been replaced on the server by another file
    /// at the same path.
    private func prepare(_ folder: String, _ server: TestServer) async throws -> Account {
        for name in Self.names {
            server.tree.remove("/F/\(name)")
            server.tree.put("/F/\(name)", "old \(name)", modified: 1_600_000_000)
        }
        let account = try Account(in: folder, server)
        #expect(try await account.larder("pin", "/").exitCode == 0)
        #expect(try await account.larder("run", "--once").exitCode == 0)
        for name in Self.names {
            #expect(try account.text("F/\(name)") == "old \(name)")
            server.tree.remove("/F/\(name)")
            server.tree.put("/F/\(name)", "the new \(name)", modified: 1_600_000_000)
        }
        return account
    }

    /// Runs once and kills the process at a system call.
    /// - Parameter moment: the number of the call, from 1.
    /// - Returns: whether the run was killed.
    private func kill(_ account: Account, at call: String, _ moment: Int) async throws -> Bool {
        var copy = account
        copy.larder.wrapper = [
            "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
            "inject=\(call):signal=SIGKILL:when=\(moment)",
        ]
        return try await copy.larder("run", "--once").exitCode != 0
    }

    /// Returns three counts: the downloads that are journalled as complete, the files on the server whose rows have a
    /// local copy, and the removed files whose rows have a local copy.
    private func rows(_ account: Account) async throws -> String {
        let code = """
            import sqlite3, sys
            db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
            one = lambda sql: db.execute(sql).fetchone()[0]
            print(one("SELECT count(*) FROM syncRecords WHERE landingDigest IS NOT NULL"),
                  one("SELECT count(*) FROM items WHERE type = 0 AND cloudStatus = 1 AND removedAt IS NULL"),
                  one("SELECT count(*) FROM items WHERE type = 0 AND cloudStatus = 1 AND removedAt IS NOT NULL"))
            """
        let result = try await run("python3", ["-c", code, "\(account.vault)/larder.db"])
        return result.lines.first ?? result.errors
    }

    @Test(
        "P56, S14: killed before any rename or write to the disk, the place has the old file or the new one, and the next run ends well",
        arguments: ["renameat2", "fdatasync"])
    func killed(_ call: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                // The moments at which the new files have taken over the copies and no new file is in its place yet.
                var between = 0
                for moment in stride(from: 1, to: 100, by: call == "renameat2" ? 1 : 3) {
                    let account = try await prepare("\(folder)/\(moment)", server)
                    let wasKilled = try await kill(account, at: call, moment)
                    let left = try await rows(account)
                    let texts = try Self.names.map { try account.text("F/\($0)") }
                    for (name, text) in zip(Self.names, texts) {
                        #expect(["old \(name)", "the new \(name)"].contains(text), "\(moment): \(text ?? "nothing")")
                    }
                    if left == "2 2 0", texts == Self.names.map({ "old \($0)" }) { between += 1 }

                    let result = try await account.larder("run", "--once")
                    #expect(result.exitCode == 0, "killed at \(call) \(moment) with \(left): \(result.summary)")
                    #expect(try account.localFiles() == Self.names.map { "F/\($0)" })
                    for name in Self.names { #expect(try account.text("F/\(name)") == "the new \(name)") }
                    #expect(try await rows(account) == "0 2 0", "\(moment)")
                    #expect(try Files.names(in: "\(account.vault)/incoming") == [])
                    server.forgetRequests()
                    #expect(try await account.larder("run", "--once").exitCode == 0)
                    #expect(server.requests.paths(of: "GET").filter { $0.hasPrefix("/F/") } == [])
                    // If the run was not killed, it has no further calls of this type.
                    if !wasKilled { break }
                }
                #expect(call != "renameat2" || between > 0)
            }
        }
    }

    @Test("P56, P25: what a person makes of a copy that was taken over and not replaced yet stays")
    func changedMeanwhile() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for moment in 1..<50 {
                    let account = try await prepare("\(folder)/\(moment)", server)
                    let wasKilled = try await kill(account, at: "renameat2", moment)
                    guard try await rows(account) == "2 2 0", try account.text("F/a") == "old a" else {
                        #expect(wasKilled, "it was never killed at that moment")
                        if wasKilled { continue } else { break }
                    }
                    try Files.write("mine", to: "\(account.files)/F/a")
                    _ = try await account.larder("run", "--once")
                    #expect(try account.text("F/a") == "mine")
                    #expect(try account.text("F/b") == "the new b")
                    break
                }
            }
        }
    }
}
