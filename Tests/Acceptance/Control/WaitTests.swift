import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder wait` and `larder healthcheck`, which ask a running host.
@Suite(.serialized) struct WaitTests {
    @Test("U8: a wait ends when all is in sync, or what is below its path, and names what cannot go on")
    func wait() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for path in ["/a", "/Folder/b", "/Folder/c"] { server.tree.put(path, path) }
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                let none = try await account.larder("wait")
                #expect(none.exitCode == 69 && none.errors.contains("no host runs"), "\(none.summary)")
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                let all = try await account.larder("wait")
                #expect(all.exitCode == 0 && all.output == "/: in sync\n", "\(all.summary)")
                #expect(try account.localFiles().sorted() == ["Folder/b", "Folder/c", "a"])

                // The host is idle for an hour. The wait has it ask the server.
                server.tree.put("/Folder/new", "new")
                let below = try await account.larder("--json", "wait", "/Folder")
                #expect(below.exitCode == 0 && below.output.contains("\"inSync\":true"), "\(below.summary)")
                #expect(try account.text("Folder/new") == "new")

                server.add(Fault(.status(403), method: "GET", path: "/bad"))
                server.tree.put("/bad", "bad")
                let stuck = try await account.larder("wait")
                #expect(stuck.exitCode == 1 && stuck.errors.contains("/bad"), "\(stuck.summary)")
                #expect(try await account.larder("wait", "/Folder").exitCode == 0)

                let hold = server.add(Fault(.hold(), method: "GET", path: "/slow"))
                server.tree.put("/slow", "slow")
                let late = try await account.larder("wait", "--timeout", "1s")
                let busy = try await account.larder("--json", "status")
                #expect(busy.output.contains(#""activity":"busy""#) && busy.output.contains("transfers"))
                #expect(late.exitCode == 124 && late.errors.contains("not in sync after 1s"), "\(late.summary)")
                server.remove(hold)
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test(
        "S28 U8: an upload under way is cancelled beside its host and after the host was killed; a wait looks at a move's end",
        arguments: [false, true])
    func cancelled(isKilled: Bool) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/x", "x")
                server.tree.put("/Docs/y", "y")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let hold = server.add(Fault(.hold(), method: "PUT", path: "/big"))
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("put", "--queue", "\(folder)/mine", "/big").exitCode == 0)
                await server.untilHeld(hold)
                if isKilled {
                    host.send(SIGKILL)
                    #expect(await host.wait() == .signal(SIGKILL))
                }
                let cancelled = try await account.larder("--log-level", "debug", "sync", "cancel", "1")
                #expect(cancelled.exitCode == 0, "\(cancelled.summary)")
                #expect(try await account.larder("--json", "sync", "list").output.isEmpty, "\(cancelled.summary)")
                #expect(try Files.names(in: account.vault + "/outgoing").isEmpty)
                #expect(!server.tree.exists("/big"))
                server.remove(hold)
                guard !isKilled else { return }
                // A script that waits for a folder goes on when what was moved there is there.
                let move = server.add(Fault(.hold(), method: "MOVE"))
                #expect(try await account.larder("mv", "--queue", "/x", "/Docs/x").exitCode == 0)
                await server.untilHeld(move)
                #expect(try await account.larder("wait", "/Docs", "--timeout", "1s").exitCode == 124)
                server.remove(move)
                #expect(try await account.larder("wait", "/Docs").exitCode == 0 && server.tree.exists("/Docs/x"))
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test(
        "A wait ends with 0 when what it waited for was cancelled, and the server has made nothing of it",
        arguments: [
            ("PUT", ["put", "--queue", "mine", "/big"]), ("MKCOL", ["mkdir", "--queue", "/new"]),
        ])
    func besideCancelled(method: String, change: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                try Files.write("mine", to: "\(folder)/mine")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let hold = server.add(Fault(.hold(), method: method))
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                let words = change.map { $0 == "mine" ? "\(folder)/mine" : $0 }
                #expect(try await account.larder.run(words).exitCode == 0)
                await server.untilHeld(hold)
                server.forgetRequests()
                let wait = try account.larder.start(["wait"], errors: "\(folder)/said")
                try await soon("it asks", beside: host, log: "\(folder)/log") {
                    !server.requests.paths(of: "PROPFIND").isEmpty
                }
                #expect(try await account.larder("sync", "cancel", "1").exitCode == 0)
                server.remove(hold)
                let code = await wait.wait(atMost: .seconds(60))
                let said = try Files.text("\(folder)/said")
                #expect(code == .code(0), "\(said)")
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("A health check tells whether a host runs, reaches its server and is accepted there")
    func health() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            let server = try await TestServer.start(configuration)
            let account = try Account(in: folder, server, settings: ["poll: 1s"])
            #expect(try await account.larder("healthcheck").exitCode == 69)
            let host = try account.larder.start(["run"], errors: "\(folder)/log")
            _ = try await account.untilCommanded(host)
            try await soon("it is online", beside: host) {
                try await account.larder("healthcheck").output == "home: online\n"
            }
            configuration.port = server.port
            await server.stop()
            try await soon("the server is gone", beside: host) {
                try await account.larder("healthcheck").exitCode == 69
            }
            configuration.password = "another"
            let other = try await TestServer.start(configuration)
            try await soon("the password is wrong", beside: host) {
                try await account.larder("healthcheck").exitCode == 77
            }
            #expect(await host.stop() == .code(0))
            await other.stop()
        }
    }

    @Test("Beside a host, a command finds a server that is back at once, however often nobody answered before")
    func backAtOnce() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            let server = try await TestServer.start(configuration)
            let account = try Account(in: folder, server, settings: ["poll: 1h"])
            let host = try account.larder.start(["run"], errors: "\(folder)/log")
            try await account.untilOnline(host, log: "\(folder)/log")
            configuration.port = server.port
            await server.stop()
            let away = try await account.larder("mkdir", "/two")
            #expect(away.exitCode == 69, "\(away.summary)")
            let other = try await TestServer.start(configuration)
            let back = try await account.larder("mkdir", "/three")
            #expect(back.exitCode == 0, "\(back.summary)")
            try await soon("what waited is made too", beside: host) {
                other.tree.paths.contains("/two/") && other.tree.paths.contains("/three/")
            }
            #expect(await host.stop() == .code(0))
            await other.stop()
        }
    }
}
