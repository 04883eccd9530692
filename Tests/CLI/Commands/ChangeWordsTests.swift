import DemoServer
import Glibc
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
                poll: 1h
                """, to: "config.yaml")
            server.tree.makeFolder("/d")
            server.tree.put("/file", "there")
            let larder = LarderCommand(config: folder.path + "/config.yaml", home: folder.path)
            #expect(try await larder("run", "--once").exitCode == 0)
            try await body(server, larder)
        }
    }

    @Test("put says under which name it has kept a file beside another version, with and without a host")
    func keptBoth() async throws {
        try await running { server, larder in
            let config = try Files.text(larder.config).replacing(
                "vault: vault,", with: "vault: vault, on-conflict: keep-both,")
            try Files.write(config, to: larder.config, mode: 0o600)
            for name in ["a", "b"] { try Files.write("mine", to: "\(folder.path)/mine/\(name)") }
            let host = try larder.start(["run"])
            // It has listed everything then, and does so again in an hour.
            try await until {
                try await larder("--json", "status").output.contains("\"connection\":\"online\"")
            }
            try await until { try await larder("wait").exitCode == 0 }
            for isHosted in [true, false] {
                if !isHosted {
                    host.send(SIGTERM)
                    #expect(await host.wait(atMost: .seconds(60)) == .code(0))
                }
                // Nobody has listed these yet.
                let place = isHosted ? "hosted" : "alone"
                for name in ["f", "a", "j"] { server.tree.put("/d/\(place)\(name)", "theirs") }
                let one = try await larder.run(["put", "\(folder.path)/mine/a", "/d/\(place)f"])
                #expect(
                    one.exitCode == 0 && one.output.hasPrefix("/d/\(place)f: uploaded as /d/\(place)f ("), "\(one)")
                let json = try await larder.run(["--json", "put", "\(folder.path)/mine/a", "/d/\(place)j"])
                #expect(json.exitCode == 0 && json.output.contains("\"path\":\"/d/\(place)j ("), "\(json)")
                for name in ["a", "b"] { try Files.write("mine", to: "\(folder.path)/mine/\(place)\(name)") }
                let several = try await larder.run(
                    ["put"] + ["a", "b"].map { "\(folder.path)/mine/\(place)\($0)" } + ["/d/"])
                #expect(several.exitCode == 0 && several.lines.count == 2, "\(several)")
                #expect(
                    several.output.hasPrefix("/d/\(place)a (")
                        && several.output.hasSuffix(
                            "): uploaded beside the version that the server has\n/d: 2 files uploaded\n"),
                    "\(several)")
                #expect(server.tree.bytes(of: "/d/\(place)a") == Array("theirs".utf8))
                #expect(server.tree.bytes(of: "/d/\(place)b") == Array("mine".utf8))
            }
        }
    }

    @Test("S40, H1: put takes several files and folders into a folder, each under its own name")
    func several() async throws {
        try await running { server, larder in
            let mine = folder.path + "/mine"
            let many = (0..<300).map { "\(mine)/many/\($0)" }
            for file in many { try Files.write(file, to: file) }
            try Files.write("deep", to: "\(mine)/x/y")
            let put = try await larder.run(["put"] + many + ["\(mine)/x/", "/d"])
            #expect(put.exitCode == 0 && put.output == "/d: 301 files uploaded\n", "\(put)")
            #expect(server.tree.bytes(of: "/d/299") == Array(many[299].utf8) && server.tree.exists("/d/x/y"))
            // One file and a closing slash, too; and a line of JSON for each.
            try Files.write("a", to: "\(mine)/a")
            #expect(try await larder("put", "\(mine)/a", "/d/").exitCode == 0)
            #expect(server.tree.bytes(of: "/d/a") == Array("a".utf8))
            let json = try await larder("--json", "put", "--replace", "\(mine)/a", "\(mine)/x/y", "/d")
            #expect(json.exitCode == 0 && json.lines.count == 2, "\(json)")
            #expect(json.lines.first?.contains(#""path":"/d/a""#) == true)
            let queued = try await larder("--json", "put", "--replace", "--queue", "\(mine)/a", "\(mine)/x/y", "/d")
            #expect(queued.lines.filter { $0.contains(#""action":"upload""#) }.count == 2, "\(queued)")
        }
    }

    @Test("S40, H1: what is wrong with one of several files is told of it, and the others are uploaded")
    func errors() async throws {
        try await running { server, larder in
            let mine = folder.path + "/mine"
            try Files.write("a", to: "\(mine)/a")
            try Files.write("b", to: "\(mine)/b")
            try Files.write("other", to: "\(mine)/x/a")
            server.tree.put("/d/b", "theirs")
            #expect(try await larder("run", "--once").exitCode == 0)
            let some = try await larder("put", "\(mine)/a", "\(mine)/none", "\(mine)/b", "/d")
            #expect(some.exitCode == 73 && some.errors.contains("There is no file \(mine)/none"), "\(some)")
            #expect(some.errors.contains("/d/b exists already") && server.tree.exists("/d/a"))
            #expect(server.tree.bytes(of: "/d/b") == Array("theirs".utf8))
            for (code, arguments) in [
                (65, ["\(mine)/a", "\(mine)/b", "/file"]), (66, ["\(mine)/a", "\(mine)/b", "/no"]),
                (65, ["\(mine)/a", "\(mine)/x/a", "/d"]), (65, ["\(mine)/a", "/", "/d"]), (64, ["\(mine)/a"]),
                (64, ["--if", "\"1\"", "\(mine)/a", "\(mine)/b", "/d"]),
            ] as [(Int32, [String])] {
                let refused = try await larder.run(["put"] + arguments)
                #expect(refused.exitCode == code, "\(arguments): \(refused)")
            }
            #expect(try await larder("sync", "list").output.isEmpty)
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
