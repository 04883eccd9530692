import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Copies that programs have open, for a person without root's rights. The kernel grants this person leases on her own
/// files alone.
@Suite(.serialized, .enabled(if: Build.isRoot, "becoming another user needs root"))
struct InUseTests {
    /// How a program holds a copy.
    enum Hold: String, CaseIterable, Sendable {
        case reading, mappedForReading, writing, mappedForWriting
        var writes: Bool { self == .writing || self == .mappedForWriting }
        var isMapped: Bool { self == .mappedForReading || self == .mappedForWriting }
    }

    /// Runs the body with a person's account that has copies of `/Docs/a` and `/Docs/b`.
    private func withCopies(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b"] { server.tree.put("/Docs/\(name)", "theirs 1") }
                let home = "\(folder)/person"
                var account = try Account(in: home, server)
                account.larder.unprivileged = true
                try await give(home, to: Build.unprivilegedUser)
                #expect(try await account.larder("pin", "/Docs").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                try await body(server, account)
            }
        }
    }

    private func give(_ path: String, to user: uid_t) async throws {
        try await mustRun("chown", ["-R", "\(user)", path])
    }

    /// Runs the body while a program of the same person has the copy of `/Docs/a` open. At its end the program writes
    /// to the file, if it can, and reports what it reads.
    private func whileHeld(_ hold: Hold, _ account: Account, _ body: () async throws -> Void) async throws -> String {
        let script = """
            import mmap, os, sys, time
            path, ready, go, seen, mode, mapped = sys.argv[1:]
            file = open(path, mode)
            if mapped == 'true':
                access = mmap.ACCESS_WRITE if mode == 'r+b' else mmap.ACCESS_READ
                held = mmap.mmap(file.fileno(), 0, access=access)
                file.close()
            else:
                held = file
            open(ready, 'w').close()
            while not os.path.exists(go): time.sleep(0.005)
            if mode == 'r+b':
                held.seek(0)
                held.write(b'mine')
                held.flush()
            held.seek(0)
            text = held.read()
            with open(seen, 'wb') as out: out.write(text)
            """
        let (ready, go, seen) = ("\(account.folder)/ready", "\(account.folder)/go", "\(account.folder)/seen")
        for file in [ready, go, seen] { Files.remove(file) }
        let user = "\(Build.unprivilegedUser)"
        let child = try ChildProcess(
            "setpriv",
            [
                "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--", "python3", "-c", script,
                "\(account.files)/Docs/a", ready, go, seen, hold.writes ? "r+b" : "rb", "\(hold.isMapped)",
            ], environment: ["PATH": "/usr/bin:/bin"])
        do {
            await until { Files.exists(ready) || child.hasEnded }
            guard Files.exists(ready) else { throw SetupError("python3 ended early") }
            try await body()
        } catch {
            await child.stop()
            throw error
        }
        try Files.write("", to: go)
        #expect(await child.wait(atMost: .seconds(120)) == .code(0))
        return try Files.text(seen)
    }

    /// Runs once, and expects that the run leaves `/Docs/a` unchanged and says so.
    private func runLeavingIt(_ account: Account) async throws {
        let result = try await account.larder("run", "--once")
        #expect(result.exitCode == 1, "\(result.summary)")
        #expect(
            result.errors.contains("/Docs/a") && result.errors.contains("open in another program"), "\(result.summary)")
        // A run right after it still waits for the file, and names the file again.
        let again = try await account.larder("run", "--once")
        #expect(again.exitCode == 1 && again.errors.contains("/Docs/a"), "\(again.summary)")
    }

    /// Runs once, and continues the work that waited.
    private func runOn(_ account: Account) async throws {
        for line in try await account.larder("--json", "sync", "list").lines {
            let id = try #require(line.split(separator: ":").dropFirst().first?.prefix { $0.isNumber })
            #expect(try await account.larder("sync", "retry", String(id)).exitCode == 0)
        }
        let result = try await account.larder("run", "--once")
        #expect(result.exitCode == 0, "\(result.summary)")
    }

    private func expectModified(_ account: Account, _ text: String) async throws {
        #expect(try account.text("Docs/a") == text)
        let item = try await account.larder("--json", "stat", "/Docs/a")
        #expect(item.output.contains("\"cloudStatus\":\"locallyModified\""), "\(item.summary)")
    }

    @Test(
        "S15: a newer version takes the place of a copy that is being read; one that is being written stays",
        arguments: Hold.allCases)
    func update(_ hold: Hold) async throws {
        try await withCopies { server, account in
            let seen = try await whileHeld(hold, account) {
                for name in ["a", "b"] { server.tree.put("/Docs/\(name)", "theirs 2") }
                if hold.writes {
                    try await runLeavingIt(account)
                    #expect(try account.text("Docs/a") == "theirs 1")
                } else {
                    let result = try await account.larder("run", "--once")
                    #expect(result.exitCode == 0, "\(result.summary)")
                    #expect(try account.text("Docs/a") == "theirs 2")
                }
                #expect(try account.text("Docs/b") == "theirs 2")
            }
            #expect(seen == (hold.writes ? "miners 1" : "theirs 1"))
            try await runOn(account)
            if hold.writes {
                try await expectModified(account, seen)
            } else {
                #expect(try account.text("Docs/a") == "theirs 2")
            }
            #expect(try account.localFiles() == ["Docs/a", "Docs/b"])
        }
    }

    @Test(
        "P25: a copy that a program has open stays at unpin and goes later, unless it was written meanwhile",
        arguments: Hold.allCases)
    func removal(_ hold: Hold) async throws {
        try await withCopies { _, account in
            #expect(try await account.larder("unpin", "/Docs").exitCode == 0)
            let seen = try await whileHeld(hold, account) {
                try await runLeavingIt(account)
                #expect(try account.text("Docs/a") == "theirs 1")
                #expect(try account.localFiles() == ["Docs/a"])
            }
            try await runOn(account)
            if hold.writes {
                try await expectModified(account, seen)
            } else {
                #expect(try account.localFiles() == [])
            }
        }
    }

    @Test(
        "A person's free of a copy that a program has open names it at once, and leaves nothing to be done",
        arguments: Hold.allCases)
    func freeing(_ hold: Hold) async throws {
        try await withCopies { _, account in
            #expect(try await account.larder("unpin", "/Docs").exitCode == 0)
            _ = try await whileHeld(hold, account) {
                let result = try await account.larder("free", "/Docs")
                #expect(result.exitCode == 1, "\(result.summary)")
                #expect(result.errors.contains("/Docs/a is open in another program"), "\(result.summary)")
                #expect(try account.localFiles() == ["Docs/a"])
                #expect(try await account.larder("--json", "sync", "list").output == "")
            }
            let result = try await account.larder("free", "/Docs")
            #expect(result.exitCode == (hold.writes ? 1 : 0), "\(result.summary)")
            if hold.writes { try await expectModified(account, "miners 1") }
        }
    }

    @Test("P25: a copy that belongs to somebody else counts as in use where other people's processes are hidden")
    func foreignOwner() async throws {
        try await withCopies { server, account in
            let file = "\(account.files)/Docs/a"
            try await give(file, to: 0)
            #expect(chmod(file, 0o644) == 0)
            server.tree.put("/Docs/a", "theirs 2")
            try await runLeavingIt(account)
            #expect(try account.text("Docs/a") == "theirs 1")
            #expect(try await account.larder("unpin", "/Docs").exitCode == 0)
            try await runLeavingIt(account)
            #expect(try account.localFiles() == ["Docs/a"])

            try await give(file, to: Build.unprivilegedUser)
            try await runOn(account)
            #expect(try account.localFiles() == [])
        }
    }
}
