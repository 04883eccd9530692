import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Two accounts of one host, one of which is in trouble.
@Suite(.serialized) struct AccountTroubleTests {
    /// Returns the command for a host with the accounts `small`, whose vault is at `disk`, and `other`.
    private func command(_ folder: String, _ disk: String, _ server: TestServer) throws -> LarderCommand {
        try Files.write(server.configuration.password, to: "\(folder)/password", mode: 0o600)
        var lines = ["poll: 1s", "accounts:"]
        for (name, vault) in [("small", "\(disk)/vault"), ("other", "\(folder)/vault")] {
            lines += [
                """
                  - { name: \(name), url: "\(server.url)", username: \(server.configuration.user), \
                vault: "\(vault)",
                """,
                "      password: { file: \"\(folder)/password\" } }",
            ]
        }
        try Files.write(lines.joined(separator: "\n") + "\n", to: "\(folder)/config.yaml", mode: 0o600)
        try Files.makeFolder("\(folder)/home")
        return LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/home")
    }

    /// Tells whether an account lists a path.
    private func isListed(_ path: String, _ account: String, _ larder: LarderCommand) async -> Bool {
        (try? await larder("--account", account, "ls", path))?.exitCode == 0
    }

    /// Fills a disk to its last byte.
    fileprivate static func fill(_ disk: String) throws {
        let file = open("\(disk)/ballast", O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0)
        defer { close(file) }
        for size in [1 << 20, 4_096, 1] {
            let block = [UInt8](repeating: 7, count: size)
            while write(file, block, size) == size {}
        }
        #expect(errno == ENOSPC && fsync(file) == 0)
    }

    @Test(
        "H11: a full disk of one account: the other does not notice; it says so, waits, and goes on when there is room",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func fullDisk() async throws {
        try await withTemporaryFolder { folder in
            let disk = "\(folder)/disk"
            try Files.makeFolder(disk)
            try await mustRun("truncate", ["-s", "40M", "\(folder)/image"])
            try await mustRun("mkfs.ext4", ["-q", "-m", "0", "\(folder)/image"])
            try await mustRun("mount", ["-o", "loop", "\(folder)/image", disk])
            do {
                try await TestServer.running { server in
                    let larder = try command(folder, disk, server)
                    server.tree.put("/first", "1")
                    let host = try larder.start(["run"], errors: "\(folder)/errors")
                    do {
                        for account in ["small", "other"] {
                            try await soon("\(account) lists") { await isListed("/first", account, larder) }
                        }
                        try Self.fill(disk)
                        server.tree.put("/second", "2")
                        try await soon("it says so") {
                            ((try? Files.text("\(folder)/errors")) ?? "").contains("The account waits")
                        }
                        try await soon("the other goes on") { await isListed("/second", "other", larder) }
                        let status = try await larder("--account", "small", "status")
                        #expect(status.output.contains("  waits      The disk is full"), "\(status.summary)")
                        let json = try await larder("--account", "small", "--json", "status").output
                        #expect(json.contains(#""trouble":{"message":"The disk is full"#), "\(json)")
                        let other = try await larder("--account", "other", "--json", "status").output
                        #expect(other.contains(#""trouble":null"#), "\(other)")

                        Files.remove("\(disk)/ballast")
                        try await soon("it goes on") { await isListed("/second", "small", larder) }
                        #expect(!host.hasEnded)
                        host.send(SIGTERM)
                        #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                        let said = try Files.text("\(folder)/errors")
                        #expect(said.components("The account waits").count == 1, "\(said)")
                    } catch {
                        await host.stop()
                        throw error
                    }
                }
            } catch {
                try await mustRun("umount", [disk])
                throw error
            }
            try await mustRun("umount", [disk])
        }
    }
}

/// Ten accounts of one host, of which four are in trouble, each in its own way.
@Suite(.serialized) struct FourTroublesTests {
    private static let well = (1...6).map { "well\($0)" }
    private static let troubled = ["dead", "hangs", "refused", "full"]

    @Test(
        "H11: a dead server, one that hangs, a refused password and a full disk: six accounts work as if alone beside them",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func ten() async throws {
        try await SeveralAccounts.running(Self.well + Self.troubled) { accounts in
            let disk = "\(accounts.folder)/disk"
            try Files.makeFolder(disk)
            try await mustRun("truncate", ["-s", "40M", "\(accounts.folder)/image"])
            try await mustRun("mkfs.ext4", ["-q", "-m", "0", "\(accounts.folder)/image"])
            try await mustRun("mount", ["-o", "loop", "\(accounts.folder)/image", disk])
            let host: ChildProcess
            do {
                let more = ["full": ["vault: \(disk)/vault"]]
                try accounts.write(Self.well + Self.troubled, more: more)
                host = try await prepare(accounts)
                try await check(accounts, host, disk)
            } catch {
                try await mustRun("umount", ["--lazy", disk])
                throw error
            }
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            try await mustRun("umount", [disk])
        }
    }

    /// Brings the first three into trouble, and starts the host.
    private func prepare(_ accounts: SeveralAccounts) async throws -> ChildProcess {
        for name in Self.well + Self.troubled {
            put("one", accounts[name])
            accounts[name].tree.put("/other", "other")
            #expect(try await accounts.larder("--account", name, "pin", "/pinned").exitCode == 0)
        }
        try Files.write("wrong", to: "\(accounts.folder)/refused.password", mode: 0o600)
        await accounts["dead"].stop()
        return try accounts.start()
    }

    private func put(_ name: String, _ server: TestServer) {
        server.tree.put("/pinned/\(name)", name, modified: 1_600_000_000)
    }

    private func check(_ accounts: SeveralAccounts, _ host: ChildProcess, _ disk: String) async throws {
        let hold = accounts["hangs"].add(Fault(.hold()))
        func isHere(_ file: String, _ name: String) throws -> Bool {
            let folder = name == "full" ? "\(disk)/vault/files" : "\(accounts.folder)/\(name)/files"
            return Files.exists("\(folder)/pinned/\(file)")
        }
        func reached(_ what: String, _ isSo: () async throws -> Bool) async throws {
            try await AcceptanceTests.soon(what, beside: host, log: accounts.log) { try await isSo() }
        }
        func health(_ name: String) async throws -> Int32? {
            try await accounts.larder("--account", name, "healthcheck").exitCode
        }
        try await reached("seven have what is pinned") {
            try (Self.well + ["full"]).allSatisfy { try isHere("one", $0) }
        }
        try AccountTroubleTests.fill(disk)
        for name in Self.well + ["full"] { put("two", accounts[name]) }
        try await reached("six poll and fetch") { try Self.well.allSatisfy { try isHere("two", $0) } }

        // Each says what its trouble is.
        try await reached("the full disk is noticed") { try await health("full") == 74 }
        try await reached("the dead server is noticed") { try await health("dead") == 69 }
        try await reached("the refusal is noticed") { try await health("refused") == 77 }
        await accounts["hangs"].untilHeld(hold)
        for (name, says) in [
            ("dead", "offline"), ("hangs", "busy with  listing"), ("refused", "  rejected   "),
            ("full", "waits      The disk is full"),
        ] {
            let status = try await accounts.larder("--account", name, "status")
            #expect(status.output.contains(says), "\(status.summary)")
        }
        for name in Self.well { #expect(try await health(name) == 0, "\(name)") }
        #expect(try await accounts.larder("healthcheck").exitCode == 74)

        // Commands to the others are answered, and nothing of theirs was asked for twice.
        for name in Self.well {
            let got = try await accounts.larder("--account", name, "get", "/other")
            #expect(got.exitCode == 0, "\(got.summary)")
            let gets = accounts[name].requests.filter { $0.method == "GET" && !$0.path.hasSuffix(".php") }.map(\.path)
            #expect(
                gets.filter { !$0.hasPrefix("/ocs") }.sorted() == ["/other", "/pinned/one", "/pinned/two"], "\(gets)")
            let polls = accounts[name].requests.filter { $0.method == "PROPFIND" }
            #expect(polls.count > 3, "\(name) polls")
        }

        // The troubles end.
        accounts["hangs"].remove(hold)
        try Files.write(
            accounts["refused"].configuration.password, to: "\(accounts.folder)/refused.password", mode: 0o600)
        Files.remove("\(disk)/ballast")
        var configuration = accounts["dead"].configuration
        configuration.port = accounts["dead"].port
        let revived = try await TestServer.start(configuration)
        put("one", revived)
        for name in Self.well + ["hangs", "refused", "full"] { put("three", accounts[name]) }
        put("three", revived)
        try await reached("all go on") {
            try (Self.well + Self.troubled).allSatisfy { try isHere("one", $0) && isHere("three", $0) }
        }
        try await reached("all are well") { try await accounts.larder("healthcheck").exitCode == 0 }
        let said = try Files.text(accounts.log).split(separator: "\n").filter { $0.contains("The account waits") }
        #expect(said.count == 1 && said.allSatisfy { $0.contains("full") }, "\(said)")
        #expect(!host.hasEnded)
        await revived.stop()
    }
}

extension String {
    fileprivate func components(_ part: String) -> [Substring] {
        split(separator: "\n").filter { $0.contains(part) }
    }
}
