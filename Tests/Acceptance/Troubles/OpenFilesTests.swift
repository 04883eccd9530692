import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The limit of open files.
struct OpenFilesTests {
    /// Returns an account whose commands run with a limit of open files that bash sets.
    private func limited(_ account: Account, _ limit: String) -> Account {
        var limited = account
        limited.larder.wrapper = ["bash", "-c", "ulimit \(limit) && exec \"$@\"", "bash"]
        return limited
    }

    @Test("H18: the soft limit of open files is raised; a secret's command has the one that Larder was started with")
    func raised() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for number in 0..<100 { server.tree.put("/d/\(number)", "\(number)") }
                let account = try Account(in: folder, server)
                let (config, note) = (account.larder.config, "\(folder)/limit")
                let command = "{ command: [sh, -c, \"ulimit -Sn >'\(note)'; cat '\(folder)/password'\"] }"
                try Files.write(
                    try Files.text(config).replacing("{ file: \"\(folder)/password\" }", with: command), to: config,
                    mode: 0o600)
                #expect(try await account.larder("pin", "/d").exitCode == 0)
                let said = try await limited(account, "-Sn 40").larder("run", "--once")
                #expect(said.exitCode == 0, "\(said.summary)")
                #expect(try Files.text(note) == "40\n")
                #expect(try account.localFiles().count == 100)
            }
        }
    }

    @Test("H18: with few descriptors a folder is uploaded in smaller parts; with too few, that is said")
    func few() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server)
                for number in 0..<300 { try Files.write("\(number)", to: "\(folder)/mine/\(number)") }
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let said = try await limited(account, "-n 128").larder("put", "\(folder)/mine", "/d")
                #expect(said.exitCode == 0, "\(said.summary)")
                #expect(server.tree.paths.filter { $0.hasPrefix("/d/") && !$0.hasSuffix("/") }.count == 300)
                let tooFew = try await limited(account, "-n 24").larder("run", "--once")
                #expect(tooFew.exitCode == 74 && tooFew.errors.contains("24 files open"), "\(tooFew.summary)")
            }
        }
    }

    @Test("H18: with too few threads that is said, and nothing hangs or crashes", arguments: [1, 2, 5, 6, 8, 12])
    func fewThreads(limit: Int) async throws {
        try await withTemporaryFolder { folder in
            var larder = LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/home")
            larder.wrapper = ["bash", "-c", "ulimit -u \(limit) && exec \"$@\"", "bash"]
            // root has no such limit; a user of its own has no other threads.
            let user = 61_000 + limit
            if Build.isRoot {
                larder.wrapper += ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"]
            }
            for command in [["run", "--once"], ["status"]] {
                let said = try await larder.run(command)
                #expect(said.exitCode == 74 && said.errors.contains("`ulimit -u`"), "\(said.summary)")
            }
        }
    }

    @Test("H18: a host with more accounts than descriptors keeps those that fit, and names the others")
    func manyAccounts() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/first", "1")
                let crowd = try Crowd(of: 30, in: folder, at: server)
                let larder = crowd.larder
                let host = try crowd.limited(to: 256).start()
                var refused = 0
                try await soon("each account is online, or waits and says why") {
                    let status = try await larder("--json", "status")
                    let online = status.lines.count {
                        $0.contains(#""connection":"online""#) && $0.contains(#""items":1,"#)
                    }
                    refused = status.lines.count { $0.contains("Of 256 open files too few are left") }
                    return online >= 3 && refused >= 5 && online + refused == 30
                }
                #expect(!host.hasEnded)
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                let errors = try Files.text(crowd.log)
                #expect(errors.split(separator: "\n").count { $0.contains("too few are left") } >= refused, "\(errors)")
                #expect(!errors.contains("Too many open files"), "\(errors)")
            }
        }
    }
}
