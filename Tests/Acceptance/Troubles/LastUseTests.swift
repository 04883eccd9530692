import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Copies that programs open and read, as a running host and the next start see them.
@Suite(.serialized) struct LastUseTests {
    private func withCopies(
        settings: [String] = [], _ body: (Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b"] { server.tree.put("/Docs/\(name)", "content of \(name)") }
                let account = try Account(in: folder, server, settings: settings)
                let got = try await account.larder("get", "/Docs")
                #expect(got.exitCode == 0, "\(got.summary)")
                try await body(account)
            }
        }
    }

    private func lastUsed(_ name: String, _ account: Account) async throws -> String? {
        try ItemLine(await account.larder("--json", "stat", "/Docs/\(name)")).lastUsed
    }

    /// Waits until the last use differs from the earlier value, and returns it.
    private func lastUsed(_ name: String, after before: String?, _ account: Account) async throws -> String? {
        var now = before
        try await soon("the use is known") {
            now = try await lastUsed(name, account)
            return now != before
        }
        return now
    }

    private func whileRunning(_ account: Account, _ body: () async throws -> Void) async throws {
        let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
        do {
            // A command before may have left "online" in the vault. The next poll is planned by this host alone, after it
            // has begun to watch the tree.
            try await soon("the host has scanned", beside: host, log: "\(account.folder)/log") {
                try await account.larder("--json", "status").output.contains(#""nextPoll":""#)
            }
            try await body()
        } catch {
            await host.stop()
            throw error
        }
        #expect(await host.stop() == .code(0))
    }

    @Test("P37: reading a copy resets its last use while a host runs, and so does what was read while none ran")
    func reading() async throws {
        try await withCopies { account in
            let first = (try await lastUsed("a", account), try await lastUsed("b", account))
            #expect(first.0 != nil && first.1 != nil)
            var second: String?
            try await whileRunning(account) {
                try await mustRun("cat", ["\(account.files)/Docs/a"])
                second = try await lastUsed("a", after: first.0, account)
                #expect(second != first.0)
                #expect(try await lastUsed("b", account) == first.1)
            }
            // While no host runs, the access time tells the last use. All recorded times are set far into the past:
            let past = time(nil) - 10_000
            try await mustRun(
                "python3",
                [
                    "-c",
                    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('UPDATE items SET lastUsed = ?',"
                        + " (int(sys.argv[2]) * 10**9,)); c.commit()", "\(account.vault)/larder.db", "\(past)",
                ])
            let before = (try await lastUsed("a", account), try await lastUsed("b", account))
            #expect(before.0 != second && before.0 == before.1)
            // An access counts if it is later than the copy as it was recorded: now, and not long before.
            let (now, unchanged) = (
                timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
            )
            for (name, accessed) in [("a", now), ("b", timespec(tv_sec: past - 5_000, tv_nsec: 0))] {
                var times = [accessed, unchanged]
                try #require(utimensat(AT_FDCWD, "\(account.files)/Docs/\(name)", &times, 0) == 0)
            }
            #expect(try await account.larder("run", "--once").exitCode == 0)
            let after = (try await lastUsed("a", account), try await lastUsed("b", account))
            #expect(after.0 != before.0 && after.0 != second && after.1 == before.1)
        }
    }

    @Test("P37: with ignore-readers, reading counts unless a listed program reads; access times do not")
    func ignored() async throws {
        let settings = ["plugins:", "  download-expiration: { ignore-readers: [ldr-test-backup] }"]
        try await withCopies(settings: settings) { account in
            let backup = "\(account.folder)/ldr-test-backup"
            try await mustRun("cp", ["/usr/bin/tail", backup])
            let first = (try await lastUsed("a", account), try await lastUsed("b", account))
            try await whileRunning(account) {
                let holder = try ChildProcess(
                    backup, ["-f", "\(account.files)/Docs/a"], output: "\(account.folder)/out")
                try await soon("it reads", beside: holder) {
                    try Files.exists("\(account.folder)/out") && !Files.text("\(account.folder)/out").isEmpty
                }
                // Uses are reported in order. When this later use is known, the earlier one would be known too.
                let other = try ChildProcess("tail", ["-f", "\(account.files)/Docs/b"])
                #expect(try await lastUsed("b", after: first.1, account) != first.1)
                #expect(try await lastUsed("a", account) == first.0)
                await other.stop()
                await holder.stop()
                try await mustRun("cat", ["\(account.files)/Docs/a"])
                #expect(try await lastUsed("a", after: first.0, account) != first.0)
            }
        }
    }
}
