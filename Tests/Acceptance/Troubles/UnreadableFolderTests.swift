import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

@Suite(.serialized) struct UnreadableFolderTests {
    /// Runs the body with a pinned tree that has, in the folder `/a/b`, a changed copy and a file that is only here.
    private func with(
        unprivileged: Bool = false, _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<5 { server.tree.put("/a/b/f\(index)", "text \(index)") }
                server.tree.put("/a/near", "near")
                let home = "\(folder)/person"
                var account = try Account(in: home, server)
                if unprivileged {
                    account.larder.unprivileged = true
                    try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", home])
                }
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.write("changed", to: account.files + "/a/b/f0")
                try Files.write("mine", to: account.files + "/a/b/own/mine")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                server.forgetRequests()
                try await body(server, account)
            }
        }
    }

    private func statuses(_ account: Account) async throws -> [String] {
        let listed = try await account.larder("--json", "ls", "/", "-r")
        return listed.output.split(separator: "\n").map { String($0) }.sorted()
    }

    /// Expects an issue and no changed status while `/a/b` is unreadable, and no issue after it is readable again.
    /// - Parameters:
    ///   - hide: makes `/a/b` unreadable.
    ///   - show: makes `/a/b` readable again.
    private func expect(
        _ server: TestServer, _ account: Account, hide: () async throws -> Void, show: () async throws -> Void
    ) async throws {
        let before = try await statuses(account)
        try await hide()
        for _ in 0..<2 {
            let hidden = try await account.larder("run", "--once")
            #expect(hidden.exitCode == 1, "\(hidden.summary)")
            let issues = try await account.larder("--json", "issue", "list")
            #expect(issues.lines.count { $0.contains("\"tree.unreadable\"") } == 1, "\(issues.summary)")
            #expect(issues.output.contains("/a/b"), "\(issues.summary)")
            #expect(try await statuses(account) == before)
        }
        try await show()
        let shown = try await account.larder("run", "--once")
        #expect(shown.exitCode == 0, "\(shown.summary)")
        #expect(try await account.larder("issue", "list").output.contains("tree.unreadable") == false)
        #expect(try await statuses(account) == before)
        #expect(try account.text("a/b/f0") == "changed" && account.text("a/b/own/mine") == "mine")
        #expect(server.requests.paths(of: "GET").isEmpty)
    }

    @Test(
        "P25: a folder that became a symbolic link is an issue; nothing is freed or forgotten, and it goes with the link"
    )
    func link() async throws {
        try await with { server, account in
            let (folder, elsewhere) = (account.files + "/a/b", account.folder + "/elsewhere")
            try await expect(server, account) {
                try await mustRun("mv", [folder, elsewhere])
                try #require(symlink(elsewhere, folder) == 0)
            } show: {
                unlink(folder)
                try await mustRun("mv", [elsewhere, folder])
            }
        }
    }

    @Test(
        "P25: so is one on which another file system is mounted",
        .enabled(if: Build.isRoot, "mounting needs root"))
    func mountPoint() async throws {
        try await with { server, account in
            let folder = account.files + "/a/b"
            try await expect(server, account) {
                try await mustRun("mount", ["-t", "tmpfs", "tmpfs", folder])
            } show: {
                try await mustRun("umount", [folder])
            }
        }
    }

    @Test(
        "P25: so is one that the host may not look into",
        .enabled(if: Build.isRoot, "acting as another user needs root"))
    func forbidden() async throws {
        try await with(unprivileged: true) { server, account in
            let folder = account.files + "/a/b"
            try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", account.files])
            try await expect(server, account) {
                try #require(chmod(folder, 0) == 0)
            } show: {
                try #require(chmod(folder, 0o700) == 0)
            }
        }
    }

    @Test("P25: a running host says it when it comes and when it goes")
    func running() async throws {
        try await with { server, account in
            let (folder, elsewhere) = (account.files + "/a/b", account.folder + "/elsewhere")
            let before = try await statuses(account)
            let host = try account.larder.start(["run"])
            func isIssue(_ isSo: Bool) async throws {
                try await soon("it is\(isSo ? " an" : " no longer an") issue", beside: host) {
                    try await account.larder("issue", "list").output.contains("tree.unreadable") == isSo
                }
            }
            // The folder is exchanged in one step, because the host would fetch a missing folder again.
            try #require(symlink(elsewhere, elsewhere) == 0)
            let exchange = [
                "-c",
                "import ctypes, os, sys; a, b = map(os.fsencode, sys.argv[1:]); "
                    + "sys.exit(ctypes.CDLL(None).renameat2(-100, a, -100, b, 2))", folder, elsewhere,
            ]
            try await mustRun("python3", exchange)
            try await isIssue(true)
            try await mustRun("python3", exchange)
            unlink(elsewhere)
            try await isIssue(false)
            #expect(try await statuses(account) == before)
            await host.stop()
        }
    }
}
