import DemoServer
import TestServer
import TestSupport
import Testing

/// `account remove`, which never takes a file that only this machine has.
@Suite(.serialized) struct AccountRemoveTests {
    private func withAccount(
        files: Bool = false, _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<3 { server.tree.put("/Photos/\(index).jpg", "photo \(index)") }
                let account = try Account(in: folder, server, files: files ? "\(folder)/Cloud" : nil)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try account.localFiles().count == 3)
                try await body(server, account)
            }
        }
    }

    @Test(
        "V1: without --purge everything stays and is named; the account is out of the config alone",
        arguments: [false, true])
    func stays(outside: Bool) async throws {
        try await withAccount(files: outside) { server, account in
            try Files.write("mine", to: "\(account.files)/mine.txt")
            let config = try Files.text(account.larder.config)
            #expect(try await account.larder("account", "remove", "work").exitCode == 66)
            server.forgetRequests()
            let removed = try await account.larder("--json", "account", "remove", "home")
            #expect(removed.exitCode == 0 && removed.output.contains(#""localCopies":3"#), "\(removed.summary)")
            #expect(removed.output.contains("\(account.folder)/password") && removed.output.contains(account.files))
            #expect(try account.localFiles().count == 4 && Files.exists("\(account.vault)/larder.db"))
            #expect(try Files.text(account.larder.config).hasPrefix("accounts:\n") && server.requests.isEmpty)
            #expect(try await account.larder("status").exitCode == 78)
            // It goes on where it stopped.
            try Files.write(config, to: account.larder.config)
            let again = try await account.larder("run", "--once")
            #expect(
                again.exitCode == 0 && server.requests.allSatisfy { $0.method != "GET" || $0.path == "/status.php" },
                "\(again.summary)")
        }
    }

    @Test("V1: --purge removes what the server has, and then the vault", arguments: [false, true])
    func purge(outside: Bool) async throws {
        try await withAccount(files: outside) { _, account in
            let removed = try await account.larder("account", "remove", "home", "--purge")
            #expect(removed.exitCode == 0 && removed.output.contains("3 local copies removed"), "\(removed.summary)")
            #expect(!Files.exists(account.vault) && Files.exists("\(account.folder)/password"))
            // A folder outside the vault is the person's own.
            #expect(try !outside || Files.names(in: account.files).isEmpty)
        }
    }

    @Test("V1: --purge keeps what was changed or made here, what the server no longer lists, and what is claimed")
    func keeps() async throws {
        try await withAccount(files: true) { server, account in
            server.tree.put("/claimed.txt", "claimed")
            server.tree.put("/gone.txt", "gone")
            #expect(try await account.larder("run", "--once").exitCode == 0)
            server.tree.remove("/gone.txt")
            #expect(try await account.larder("run", "--once").exitCode == 0)
            #expect(try await account.larder("claim", "add", "/claimed.txt", "--type", "read").exitCode == 0)
            try Files.write("changed", to: "\(account.files)/Photos/1.jpg")
            try Files.makeFolder("\(account.files)/New")
            try Files.write("new", to: "\(account.files)/New/new.txt")
            let removed = try await account.larder("account", "remove", "home", "--purge")
            #expect(removed.exitCode == 1 && removed.output.contains("2 local copies removed"), "\(removed.summary)")
            #expect(
                try account.localFiles().sorted() == ["New/new.txt", "Photos/1.jpg", "claimed.txt", "gone.txt"],
                "\(removed.summary)")
            for name in try account.localFiles() { #expect(removed.output.contains("/\(name) ")) }
            #expect(Files.exists("\(account.vault)/larder.db"))
        }
    }

    @Test(
        "V1 S51: queued changes are named, and a file that was to be uploaded stays, with --purge too",
        arguments: [false, true])
    func queued(purge: Bool) async throws {
        try await withAccount { _, account in
            try Files.write("mine", to: "\(account.folder)/mine")
            #expect(try await account.larder("put", "--queue", "\(account.folder)/mine", "/p").exitCode == 0)
            #expect(try await account.larder("mkdir", "--queue", "/New").exitCode == 0)
            let removed = try await account.larder.run(["account", "remove", "home"] + (purge ? ["--purge"] : []))
            #expect(removed.exitCode == (purge ? 1 : 0), "\(removed.summary)")
            let outgoing = try Files.names(in: "\(account.vault)/outgoing")
            #expect(outgoing.count == 1 && outgoing.allSatisfy { removed.output.contains($0) }, "\(removed.summary)")
            #expect(removed.output.contains(" to /p"), "\(removed.summary)")
            #expect(removed.output.contains("not made: createFolder of /New"), "\(removed.summary)")
        }
    }

    @Test("V1: the only account of a running host is taken out, and the host ends", arguments: [false, true])
    func runningAlone(purge: Bool) async throws {
        try await withAccount { _, account in
            let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
            try await account.untilOnline(host)
            let removed = try await account.larder.run(["account", "remove", "home"] + (purge ? ["--purge"] : []))
            #expect(removed.exitCode == 0 && removed.output.contains("no longer in the config"), "\(removed.summary)")
            #expect(await host.wait(atMost: .seconds(60)) == .code(0))
            #expect(try purge ? !Files.exists(account.vault) : account.localFiles().count == 3)
        }
    }

    @Test("V1: a running host closes the account and goes on with the others, which lose no request")
    func running() async throws {
        try await SeveralAccounts.running(["still", "kept", "gone"]) { accounts in
            let bytes = Array(repeating: UInt8(7), count: 300_000)
            accounts["still"].tree.put("/large", bytes)
            for name in ["kept", "gone"] { accounts[name].tree.put("/a", "one") }
            for name in ["still", "kept", "gone"] {
                #expect(try await accounts.larder("--account", name, "pin", "/").exitCode == 0)
            }
            let hold = accounts["still"].add(Fault(.hold(afterBytes: 100_000), method: "GET", path: "/large"))
            let host = try accounts.start()
            await accounts["still"].untilHeld(hold)
            try await soon("they work", beside: host, log: accounts.log) {
                try accounts.text("kept", "a") != nil && accounts.text("gone", "a") != nil
            }

            // A config that the host does not take is put back.
            let config = try Files.text(accounts.config)
            Files.remove("\(accounts.folder)/still.password")
            let refused = try await accounts.larder("account", "remove", "kept")
            #expect(refused.exitCode == 78 && refused.errors.contains("still.password"), "\(refused.summary)")
            #expect(try Files.text(accounts.config) == config)
            try Files.write(
                accounts["still"].configuration.password, to: "\(accounts.folder)/still.password", mode: 0o600)

            // So is one that the host has not read.
            let other = "\(accounts.folder)/other.yaml"
            try Files.write(config, to: other, mode: 0o600)
            var elsewhere = accounts.larder
            elsewhere.config = other
            let unread = try await elsewhere.run(["account", "remove", "kept"])
            #expect(
                unread.exitCode == 75 && unread.errors.contains("has `kept` in another config than \(other)"),
                "\(unread.summary)")
            #expect(try Files.text(other) == config)
            #expect(try await accounts.larder("--account", "kept", "healthcheck").exitCode == 0)

            let kept = try await accounts.larder("account", "remove", "kept")
            #expect(kept.exitCode == 0 && kept.output.contains("1 local copy"), "\(kept.summary)")
            #expect(try accounts.text("kept", "a") == "one")
            let gone = try await accounts.larder("--json", "account", "remove", "gone", "--purge")
            #expect(gone.exitCode == 0 && gone.output.contains("\"removed\":1"), "\(gone.summary)")
            #expect(!Files.exists("\(accounts.folder)/gone"))
            for name in ["kept", "gone"] {
                // A request that the host ended comes into the list when the server has seen it end.
                try await soon("\(name) is left", beside: host, log: accounts.log) { accounts[name].isLeft }
                accounts[name].forgetRequests()
            }

            accounts["still"].remove(hold)
            try await soon("it is fetched", beside: host, log: accounts.log) {
                try accounts.text("still", "large")?.utf8.count == bytes.count
            }
            let gets = accounts["still"].requests.filter { $0.method == "GET" && $0.path == "/large" }
            #expect(gets.map(\.bytes) == [bytes.count] && gets.map(\.range) == [nil])
            for name in ["kept", "gone"] { #expect(accounts[name].requests == [], "\(name)") }
            #expect(await host.stop() == .code(0))
        }
    }

    @Test("V1, H9: an account that waits for its tree is found, and left in the config by a --purge that is refused")
    func waiting() async throws {
        try await SeveralAccounts.running(["still", "waits"]) { accounts in
            let (tree, away) = ("\(accounts.folder)/tree", "\(accounts.folder)/away")
            accounts["waits"].tree.put("/a", "one")
            try accounts.write(["still", "waits"], more: ["waits": ["files: \(tree)"]])
            #expect(try await accounts.larder("--account", "waits", "pin", "/").exitCode == 0)
            let host = try accounts.start()
            try await soon("it works", beside: host, log: accounts.log) {
                Files.exists("\(tree)/a") ? try Files.text("\(tree)/a") == "one" : false
            }
            let config = try Files.text(accounts.config)
            try await mustRun("mv", [tree, away])
            // Whether the host has noticed it or not, nothing is taken away.
            for _ in 0..<2 {
                let purge = try await accounts.larder("account", "remove", "waits", "--purge")
                #expect(purge.exitCode == 74, "\(purge.summary)")
                #expect(try Files.text(accounts.config) == config)
                try await soon("it waits", beside: host, log: accounts.log) {
                    try await accounts.larder("--account", "waits", "healthcheck").exitCode == 74
                }
            }
            for command in [["wait"], ["pause"], ["resume"]] {
                let said = try await accounts.larder.run(["--account", "waits"] + command)
                #expect(said.exitCode == 74, "\(command) \(said.summary)")
            }
            let removed = try await accounts.larder("account", "remove", "waits")
            #expect(removed.exitCode == 0, "\(removed.summary)")
            #expect(try await accounts.larder("healthcheck").exitCode == 0)
            // The host does not take it up again with its tree.
            try await mustRun("mv", [away, tree])
            #expect(try await accounts.larder("reload").exitCode == 0)
            #expect(try await accounts.larder("healthcheck").exitCode == 0)
            #expect(try Files.text("\(tree)/a") == "one")
            #expect(await host.stop() == .code(0))
        }
    }
}
