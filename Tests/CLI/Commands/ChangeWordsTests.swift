import DemoServer
import TestServer
import TestSupport
import Testing

/// `larder put`, `rm` and others, as a process, with a server of this process.
@Suite struct ChangeWordsTests {
    private let folder = TemporaryFolder()

    private func running(
        _ manner: Manner = Manner(), _ body: (TestServer, LarderCommand) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = manner
        try await TestServer.running(configuration) { server in
            try folder.write(server.configuration.password, to: "password")
            try folder.write(
                """
                accounts:
                - { name: home, url: '\(server.url)', username: \(server.configuration.user), vault: vault,
                    password: { file: password } }
                """, to: "config.yaml")
            server.tree.makeFolder("/d")
            server.tree.put("/file", "there")
            let larder = LarderCommand(config: folder.path + "/config.yaml", home: folder.path)
            #expect(try await larder("run", "--once").exitCode == 0)
            try await body(server, larder)
        }
    }

    @Test("S40: a lock of another program is exit code 1, and a received share that is removed is left")
    func words() async throws {
        try await running { server, larder in
            server.tree.put("/shared/in", "x")
            server.tree.permit("/shared", "SRDNVCK")
            server.tree.permit("/shared/in", "SRDNVW")
            #expect(try await larder("run", "--once").exitCode == 0)
            #expect(try await larder("rm", "/shared/in").output == "/shared/in: deleted\n")
            #expect(try await larder("rm", "/shared").output == "/shared: you left the share; its owner keeps it\n")
            try Files.write("a", to: "\(folder.path)/a")
            server.add(Fault(.status(423), method: "PUT"))
            let put = try await larder("put", "\(folder.path)/a", "/d/a")
            #expect(put.exitCode == 1 && put.errors.contains("locked by somebody"), "\(put)")
        }
    }

    @Test("C2: a password that is wrong when an account is added is told with what to check, and no next try")
    func wrongPassword() async throws {
        try await running { server, larder in
            try folder.write("wrong", to: "wrong")
            let added = try await larder(
                "account", "add", server.url, "--name", "other", "--username", "demo", "--approve", "--password-file",
                "\(folder.path)/wrong")
            #expect(added.exitCode == 77 && added.errors.contains("the account was not added"), "\(added)")
            #expect(!added.errors.contains("next try"))
        }
    }

    @Test("S40: a name that the server is known to forbid is 65, and nothing is queued or sent")
    func forbidden() async throws {
        try await running(.nextcloud) { server, larder in
            try Files.write("a", to: "\(folder.path)/a")
            #expect(try await larder("put", "\(folder.path)/a", "/d/a").exitCode == 0)
            server.forgetRequests()
            for words in [
                ["put", "\(folder.path)/a", "/d/x.part"], ["mkdir", "/.htaccess"], ["mv", "/d/a", "/d/a\\b"],
                ["cp", "/d", "/d.filepart"], ["put", "--queue", "\(folder.path)/a", "/d/.HTAccess"],
            ] {
                let refused = try await larder.run(words)
                #expect(refused.exitCode == 65 && refused.errors.contains("the server takes no"), "\(refused)")
            }
            #expect(server.requests.isEmpty && server.violations.isEmpty)
            #expect(try await larder("sync", "list").output.isEmpty)
        }
    }
}
