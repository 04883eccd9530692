import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// What a person sees when this machine cannot do its part.
@Suite(.serialized) struct LocalTroubleTests {
    @Test("V1: a tree that is not mounted is 74, and nothing is taken for removed")
    func notMounted() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<30 { server.tree.put("/f\(index)", "\(index)") }
                let tree = "\(folder)/mounted/Cloud"
                let account = try Account(in: folder, server, files: tree)
                try Files.makeFolder(tree)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                #expect(try account.localFiles().count == 30)

                // This is the state when nothing is mounted there: the folder is empty and has no mark.
                try await mustRun("mv", [tree, "\(folder)/elsewhere"])
                try Files.makeFolder(tree)
                server.forgetRequests()
                let away = try await account.larder("run", "--once")
                #expect(away.exitCode == 74, "\(away.summary)")
                #expect(away.errors.contains(tree), "\(away.summary)")
                #expect(server.requests.paths(of: "GET").isEmpty)
                #expect(try Files.names(in: tree) == [])

                Files.remove(tree)
                try await mustRun("mv", ["\(folder)/elsewhere", tree])
                let back = try await account.larder("run", "--once")
                #expect(back.exitCode == 0, "\(back.summary)")
                #expect(server.requests.paths(of: "GET").isEmpty)
                #expect(try account.localFiles().count == 30)
            }
        }
    }

    @Test("V1: a command whose tree goes while it waits ends with 74 and says why")
    func goneMeanwhile() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                let tree = "\(folder)/tree"
                let account = try Account(in: folder, server, files: tree)
                let hold = server.add(Fault(.hold(), method: "GET", path: "/a"))
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host)
                let get = try account.larder.start(["get", "/a"], errors: "\(folder)/said")
                await server.untilHeld(hold)
                try await mustRun("mv", [tree, "\(folder)/elsewhere"])
                #expect(await get.wait(atMost: .seconds(120)) == .code(74))
                #expect(try Files.text("\(folder)/said").contains("\(tree) with the local copies was moved"))
                #expect(await host.wait(atMost: .seconds(120)) == .code(74))
            }
        }
    }

    @Test("S27: a vault that another host has open is 75, and names that host's process")
    func locked() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "x")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let fault = server.add(Fault(.hold(), method: "PROPFIND"))
                let host = try account.larder.start(["run"])
                await server.untilHeld(fault)
                let second = try await account.larder("run", "--once")
                #expect(second.exitCode == 75, "\(second.summary)")
                #expect(second.errors.contains("\(host.pid)"), "\(second.summary)")
                let status = try await account.larder("--json", "status")
                #expect(status.exitCode == 0, "\(status.summary)")
                server.remove(fault)
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }

    @Test("A run that brings the account up to date once waits for a command that has the vault open without a host")
    func lockedByCommand() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.write("mine", to: "\(folder)/mine")
                let hold = server.add(Fault(.hold(), method: "PUT", path: "/big"))
                let put = try account.larder.start(["put", "\(folder)/mine", "/big"], errors: "\(folder)/said")
                await server.untilHeld(hold)
                let late = try await account.larder("run", "--once", "--timeout", "1s")
                #expect(late.exitCode == 1, "\(late.summary)")
                let run = try account.larder.start(["run", "--once"], errors: "\(folder)/log")
                try await soon("it waits", beside: run, log: "\(folder)/log") {
                    try Files.text("\(folder)/log").contains("waiting for process \(put.pid)")
                }
                server.remove(hold)
                #expect(await put.wait(atMost: .seconds(60)) == .code(0))
                #expect(await run.wait(atMost: .seconds(60)) == .code(0))
            }
        }
    }

    @Test(
        "P34: a full disk is 74, leaves no partial file, and the work goes on when there is room",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func diskFull() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<12 {
                    server.tree.put("/big\(index)", [UInt8](repeating: UInt8(index), count: 2 << 20))
                }
                let disk = "\(folder)/disk"
                try Files.makeFolder(disk)
                try await mustRun("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk])
                do {
                    let account = try Account(in: disk, server)
                    #expect(try await account.larder("pin", "/").exitCode == 0)
                    let full = try await account.larder("run", "--once")
                    #expect(full.exitCode == 74, "\(full.summary)")
                    for name in try account.localFiles() {
                        #expect(try Files.read("\(account.files)/\(name)").count == 2 << 20)
                    }
                    try await mustRun("mount", ["-o", "remount,size=128m", disk])
                    let room = try await account.larder("run", "--once")
                    #expect(room.exitCode == 0, "\(room.summary)")
                    #expect(try account.localFiles().count == 12)
                } catch {
                    Issue.record(error)
                }
                try await mustRun("umount", [disk])
            }
        }
    }

    @Test(
        "C13: a file that would leave too little waits, is named and makes the run 74, and goes on when there is room",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func noRoom() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/big", [UInt8](repeating: 1, count: 40 << 20))
                server.tree.put("/small", "small")
                let disk = "\(folder)/disk"
                try Files.makeFolder(disk)
                try await mustRun("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk])
                do { try await wait(for: server, on: disk) } catch { Issue.record(error) }
                try await mustRun("umount", ["--lazy", disk])
            }
        }
    }

    private func wait(for server: TestServer, on disk: String) async throws {
        let account = try Account(in: disk, server, settings: ["poll: 1s", "disk: { keep-free: 30MB }"])
        #expect(try await account.larder("pin", "/").exitCode == 0)
        let once = try await account.larder("run", "--once")
        #expect(once.exitCode == 74, "\(once.summary)")
        #expect(once.errors.contains("1 download waits for room"), "\(once.summary)")
        #expect(once.errors.contains("30 MB") && once.errors.contains("disk.keep-free"), "\(once.summary)")
        #expect(try account.localFiles() == ["small"])

        let get = try await account.larder("get", "/big")
        #expect(get.exitCode == 74, "\(get.summary)")
        #expect(get.errors.contains("/big: there is no room for it"), "\(get.summary)")
        #expect(server.requests.paths(of: "GET").contains("/big") == false)
        let issues = try await account.larder("issue", "list")
        #expect(issues.output.contains("wait") && issues.output.contains(account.files), "\(issues.summary)")

        let host = try account.larder.start(["run"])
        await until { server.requests.paths(of: "PROPFIND").count > 3 }
        let status = try await account.larder("status")
        #expect(status.output.contains("1 issue waits"), "\(status.summary)")
        #expect(server.requests.paths(of: "GET").contains("/big") == false)
        try await mustRun("mount", ["-o", "remount,size=256m", disk])
        try await until { try account.localFiles().sorted() == ["big", "small"] }
        try await until { try await account.larder("issue", "list").output.contains("room") == false }
        host.send(SIGTERM)
        #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        #expect(try Files.read("\(account.files)/big").count == 40 << 20)
    }

    @Test(
        "V1: for a user without rights: copies are the user's alone, and a place that cannot be written is 73",
        .enabled(if: Build.isRoot, "becoming another user needs root"))
    func unprivileged() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/Docs/a", "x")
                let home = "\(folder)/person"
                var account = try Account(in: home, server)
                account.larder.unprivileged = true
                try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", home])
                var root = account.larder
                root.unprivileged = false
                // What root made there, the owner of the folder could not change.
                for command in [["pin", "/"], ["run", "--once"], ["project", "create", "--bundle-id", "x"], ["run"]] {
                    let early = try await root.run(command)
                    #expect(
                        early.exitCode == 77 && early.errors.contains("which belongs to the user"),
                        "\(command) \(early.summary)")
                }
                #expect(!Files.exists(account.vault))
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let result = try await account.larder("run", "--once")
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(try account.text("Docs/a") == "x")
                #expect(Files.mode(of: "\(account.files)/Docs/a") == 0o600)
                #expect(Files.mode(of: "\(account.files)/Docs") == 0o700)
                #expect(Files.owner(of: "\(account.files)/Docs") == Build.unprivilegedUser)

                // What root made in the vault, its owner could not change.
                for command in [["project", "list"], ["project", "create"], ["pin", "/Docs"]] {
                    let refused = try await root.run(command)
                    #expect(
                        refused.exitCode == 77 && refused.errors.contains("belongs to the user"),
                        "\(command) \(refused.summary)")
                }
                #expect(try await mustRun("find", [account.vault, "-user", "root"]) == "")
                #expect(try await account.larder("project", "create").exitCode == 0)

                let locked = "\(folder)/locked"
                var refused = try Account(in: locked, server)
                refused.larder.unprivileged = true
                try await mustRun(
                    "chown", ["\(Build.unprivilegedUser)", "\(locked)/config.yaml", "\(locked)/password"])
                let none = try await refused.larder("pin", "/")
                #expect(none.exitCode == 73, "\(none.summary)")
                #expect(none.errors.contains(refused.vault), "\(none.summary)")
            }
        }
    }
}
