import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A first scan whose process is killed in the middle of it, on a server whose ETags show changes.
///
/// The server holds listings back. The process is killed at one of two moments: when no other request is under way and
/// everything that was listed is in the database, or as soon as one listing is held, whatever the state of the others.
@Suite(.serialized) struct KilledScanTests {
    /// The number of listings that are on the network at once. The config allows no more, so that it does not depend on
    /// how fast the server answers.
    private static let width = 4
    private static let settings = ["limits: { connections: \(width) }"]
    /// The largest number of listings that were requested and are not in the database yet.
    private static let mostUnderWay = 24
    private static let folders = ["/"] + (0..<26).flatMap { top in ["/d\(top)"] + (0..<9).map { "/d\(top)/s\($0)" } }

    @Test(
        "I12: killed again and again, a first scan lists nothing again that it had listed, and ends as an undisturbed one",
        .timeLimit(.minutes(20)), arguments: [true, false])
    func killed(isSettled: Bool) async throws {
        var random = SeededGenerator()
        let seed = random.seed
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for folder in Self.folders {
                    for name in ["a", "b"] {
                        server.tree.put("\(folder)/\(name)", folder + name, modified: 1_600_000_000)
                    }
                }
                let account = try Account(in: "\(folder)/killed", server, settings: Self.settings)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let kills = 3
                for _ in 0..<kills {
                    try await kill(account, server, after: .random(in: 40...60, using: &random), isSettled: isSettled)
                }
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let listed = server.listedBelowRoot
                #expect(Set(listed).count == Self.folders.count - 1)
                let again = listed.count - Set(listed).count
                #expect(again <= (isSettled ? 0 : (Self.mostUnderWay - 1) * kills), "LARDER_TEST_SEED=\(seed)")
                try await expectEnd(of: account, server, folder, "LARDER_TEST_SEED=\(seed)")
            }
        }
    }

    @Test("I12: what changes while a first scan lies killed is found, and nothing else is listed again for it")
    func changedMeanwhile() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for folder in Self.folders { server.tree.put("\(folder)/a", folder, modified: 1_600_000_000) }
                let account = try Account(in: "\(folder)/killed", server, settings: Self.settings)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                try await kill(account, server, after: 60, isSettled: true)
                let deep = try #require(
                    server.listedBelowRoot.first { $0.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 })
                let top = String(deep.prefix { $0 != "s" }.dropLast())
                server.tree.put("\(deep)/a", "changed", modified: 1_600_000_000)
                server.tree.put("\(deep)/new", "new", modified: 1_600_000_000)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let twice = Dictionary(grouping: server.listedBelowRoot) { $0 }.filter { $1.count > 1 }
                // If the file is fetched before its folder is listed, the folder is listed for the file too.
                #expect(Set(twice.keys) == [top, deep] && twice[top]?.count == 2)
                #expect([2, 3].contains(twice[deep]?.count))
                #expect(try account.text("\(deep)/a") == "changed")
                try await expectEnd(of: account, server, folder, "")
            }
        }
    }

    /// Kills a run in which this many folders were listed and other listings are held.
    private func kill(_ account: Account, _ server: TestServer, after count: Int, isSettled: Bool) async throws {
        // As many listings are held as can be on the network at once, so that the run does not go on while the test
        // waits for a processor. After a settled kill they are held until the server stops, so none of them is in the
        // server's log. All of them were held, so none of the next run is.
        let hold = server.add(Fault(.hold(), method: "PROPFIND", from: count + 1, times: Self.width))
        let before = server.listedBelowRoot.count
        let child = try account.larder.start(["run", "--once"], errors: "\(account.folder)/errors")
        // A run that ends by itself does not request enough listings. Then the hold is removed, so that the test does
        // not wait for it.
        let end = Task { if await child.wait() != .signal(SIGKILL) { server.remove(hold) } }
        await server.untilHeld(hold, count: isSettled ? Self.width : 1)
        while isSettled, !child.hasEnded, try await !account.listed().isSuperset(of: server.listedBelowRoot[before...])
        {}
        child.send(SIGKILL)
        let status = await child.wait()
        // Fewer listings may be held than the fault asks for, and it shall hold none of the next run.
        if !isSettled { server.remove(hold) }
        let errors = try Files.text("\(account.folder)/errors")
        await end.value
        #expect(status == .signal(SIGKILL), "\(errors)")
    }

    /// Expects that the account equals an account that scanned the same server without interruption, and that the scan
    /// counts as finished.
    private func expectEnd(of account: Account, _ server: TestServer, _ folder: String, _ note: Comment) async throws {
        let other = try Account(in: "\(folder)/undisturbed", server)
        #expect(try await other.larder("pin", "/").exitCode == 0)
        #expect(try await other.larder("run", "--once").exitCode == 0)
        #expect(try await account.difference(from: other.files) == "", note)
        let (state, expected) = (try await account.state(), try await other.state())
        #expect(state == expected && state.last == "lastWholeWalk", note)
        server.forgetRequests()
        #expect(try await account.larder("run", "--once").exitCode == 0)
        #expect(server.requests.paths(of: "PROPFIND") == ["/"], note)
    }
}

extension TestServer {
    /// The folders that were listed, without the root.
    fileprivate var listedBelowRoot: [String] { requests.paths(of: "PROPFIND").filter { $0 != "/" } }
}

extension Account {
    /// Returns the folders that are recorded as listed.
    fileprivate func listed() async throws -> Set<String> {
        Set(try await database("SELECT path FROM items WHERE listedETag IS NOT NULL"))
    }

    /// Returns everything that the database holds about the server and about the work that is left.
    fileprivate func state() async throws -> [String] {
        try await database(
            """
            SELECT path, parentPath, name, fileID, type, size, mimeType, etag, etagStrength, lastModified, permissions,
              listedETag, racy, removedAt, cloudStatus, copyETag, copySize, copyModified, hex(copyDigest),
              downloadTrigger
            FROM items ORDER BY path
            """, "SELECT 'to list', path FROM scanJobs", "SELECT 'to do', path FROM syncRecords",
            "SELECT 'to move', toPath FROM treeMoves", "SELECT 'missing', databaseID FROM missingItems",
            "SELECT 'issue', subject FROM issues",
            "SELECT key FROM meta WHERE key IN ('lastWholeWalk', 'lastScan', 'etagsWereWrong') ORDER BY key")
    }

    private func database(_ queries: String...) async throws -> [String] {
        let code = """
            import sqlite3, sys
            db = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
            for query in sys.argv[2:]:
                for row in db.execute(query): print(*row)
            """
        let result = try await TestSupport.run("python3", ["-c", code, "\(vault)/larder.db"] + queries)
        guard result.exitCode == 0 else { throw SetupError(result.errors) }
        return result.lines
    }
}
