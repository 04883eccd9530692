import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Pins that a person sets, on a server of the ownCloud family.
@Suite(.serialized) struct PinTests {
    private func withAccount(
        settings: [String] = [], _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["cat", "dog"] { server.tree.put("/Photos/\(name).jpg", name) }
                for name in ["sea", "hill"] { server.tree.put("/Photos/Summer/\(name).jpg", name) }
                server.tree.makeFolder("/Photos/Empty")
                server.tree.put("/other.txt", "other")
                try await body(server, try Account(in: folder, server, settings: settings))
            }
        }
    }

    private func must(_ account: Account, _ arguments: String...) async throws {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
    }

    @Test("P17 P18: a pinned folder is here with its empty folders, what is added to it comes, and nothing else does")
    func folder() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            let four = ["Photos/Summer/hill.jpg", "Photos/Summer/sea.jpg", "Photos/cat.jpg", "Photos/dog.jpg"]
            #expect(try account.localFiles() == four)
            #expect(Files.isFolder("\(account.files)/Photos/Empty"))
            server.tree.put("/Photos/Summer/new/rain.jpg", "rain")
            server.tree.put("/other2.txt", "other")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/Summer/hill.jpg", "Photos/Summer/new/rain.jpg"] + four[1...])
        }
    }

    @Test("P19 P20: unpinning the outer folder keeps what an inner pin covers; a needless pin is named")
    func nested() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos/Summer")
            let outer = try await account.larder("pin", "/Photos")
            #expect(outer.exitCode == 0 && (outer.output + outer.errors).contains("/Photos/Summer"), "\(outer.summary)")
            let inner = try await account.larder("pin", "/Photos/Empty")
            #expect(inner.exitCode != 0 && inner.errors.contains("/Photos"), "\(inner.summary)")
            try await must(account, "run", "--once")
            try await must(account, "unpin", "/Photos")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/Summer/hill.jpg", "Photos/Summer/sea.jpg"])
        }
    }

    @Test("P25 P26: unpinning removes the copies without a server, and keeps the one that was changed here")
    func unpinOffline() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            try Files.write("my own cat", to: "\(account.files)/Photos/cat.jpg")
            await server.stop()
            try await must(account, "unpin", "/Photos")
            let result = try await account.larder("run", "--once", timeout: .seconds(45))
            #expect(result.exitCode == 69, "\(result.summary)")
            #expect(try account.localFiles() == ["Photos/cat.jpg"])
            #expect(try account.text("Photos/cat.jpg") == "my own cat")
        }
    }

    @Test("P24: a pinned file stays pinned wherever it is moved")
    func movedFile() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos/cat.jpg")
            try await must(account, "run", "--once")
            server.forgetRequests()
            server.tree.makeFolder("/Pets")
            #expect(server.tree.move("/Photos/cat.jpg", to: "/Pets/tiger.jpg"))
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Pets/tiger.jpg"])
            #expect(server.requests.paths(of: "GET") == [])
            server.tree.put("/Pets/tiger.jpg", "bigger")
            try await must(account, "run", "--once")
            #expect(try account.text("Pets/tiger.jpg") == "bigger")
        }
    }

    @Test("P44: what was changed or made here is kept, told of, and no failure")
    func localChanges() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            try Files.write("my own cat", to: "\(account.files)/Photos/cat.jpg")
            try Files.write("mine alone", to: "\(account.files)/Photos/mine.txt")
            server.tree.put("/Photos/cat.jpg", "another cat")
            try await must(account, "run", "--once")
            #expect(try account.text("Photos/cat.jpg") == "my own cat")
            #expect(try account.text("Photos/mine.txt") == "mine alone")
            let cat = try await account.larder("--json", "stat", "/Photos/cat.jpg")
            #expect(cat.output.contains("\"cloudStatus\":\"locallyModified\""), "\(cat.summary)")
            #expect(cat.output.contains("\"remoteVersion\":\"newer\""), "\(cat.summary)")
            let mine = try await account.larder("--json", "ls", "/Photos")
            #expect(mine.output.contains("\"cloudStatus\":\"localOnly\""), "\(mine.summary)")
            #expect(server.tree.bytes(of: "/Photos/cat.jpg") == Array("another cat".utf8))
        }
    }

    @Test("P33: switched off, available offline does nothing; switched on again it goes on")
    func switchedOff() async throws {
        try await withAccount(settings: ["plugins:", "  available-offline: { enabled: false }"]) { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == [])
            try await must(account, "plugin", "enable", "available-offline")
            try await must(account, "run", "--once")
            #expect(try account.localFiles().count == 4)
        }
    }

    @Test("P28: a newer version that never arrives leaves the old copy")
    func updateWithoutGap() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            server.tree.put("/Photos/cat.jpg", "a newer cat")
            server.add(Fault(.cutOff(afterBytes: 0), method: "GET", path: "/Photos/cat.jpg"))
            let failed = try await account.larder("run", "--once")
            #expect(failed.exitCode == 1, "\(failed.summary)")
            #expect(try account.text("Photos/cat.jpg") == "cat")
        }
    }

    @Test("P1: a pin is there, whole or not at all, whenever who made it is killed, and the same after who used it was")
    func killed() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            let before = try await account.larder("--json", "policy", "list").lines
            #expect(before.count == 1 && before[0].contains("\"path\":\"/Photos\""))
            let fault = server.add(Fault(.hold(), method: "PROPFIND"))
            let host = try account.larder.start(["run"])
            await server.untilHeld(fault)
            host.send(SIGKILL)
            #expect(await host.wait() == .signal(SIGKILL))
            server.remove(fault)
            #expect(try await account.larder("--json", "policy", "list").lines == before)

            for number in 0..<40 { server.tree.put("/Many/\(number)", "\(number)") }
            try await must(account, "run", "--once")
            var (kills, expected, tries) = (0, before.count, 0)
            while kills < 10, tries < 40 {
                defer { tries += 1 }
                let (path, said) = ("/Many/\(tries)", "\(account.folder)/said")
                Files.remove(said)
                let child = try account.larder.start(["pin", path], output: said)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...150, using: &random)))
                child.send(SIGKILL)
                let wasKilled = await child.wait() == .signal(SIGKILL)
                if wasKilled { kills += 1 }
                let list = try await account.larder("--json", "policy", "list")
                #expect(list.exitCode == 0, "\(list.summary)")
                let own = list.lines.filter { $0.contains("\"path\":\"\(path)\"") }
                #expect(
                    own.count <= 1 && own.allSatisfy { $0.contains("\"localID\":\"") && $0.contains("localID == ") })
                // If the command printed that the pin was set, the pin is there.
                if try !wasKilled || !Files.read(said).isEmpty { #expect(own.count == 1, "LARDER_TEST_SEED=\(seed)") }
                expected += own.count
                #expect(list.lines.count == expected, "LARDER_TEST_SEED=\(seed)")
                #expect(list.lines.contains(before[0]))
            }
            #expect(kills > 0, "LARDER_TEST_SEED=\(seed)")
            try await must(account, "run", "--once")
            #expect(try account.localFiles().count == 4 + expected - 1)
        }
    }
}
