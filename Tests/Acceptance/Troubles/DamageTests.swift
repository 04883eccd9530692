import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

extension String {
    /// Returns the text value of a field in a JSON object on one line.
    fileprivate func value(of field: String) -> String? {
        guard let start = firstRange(of: "\"\(field)\":\"") else { return nil }
        return String(self[start.upperBound...].prefix { $0 != "\"" })
    }
}

/// A damaged database of a vault, as a person meets it.
@Suite(.serialized) struct DamageTests {
    /// - Parameter text: The text of which the pages are damaged that have it; nil for all pages.
    private func damage(_ account: Account, only text: String? = nil) async throws {
        let path = account.vault + "/larder.db"
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('pragma wal_checkpoint(truncate)')"
        try await mustRun("python3", ["-c", script, path])
        for end in ["-wal", "-shm"] { Files.remove(path + end) }
        var bytes = try Files.read(path)
        if let text {
            for page in stride(from: 4096, to: bytes.count, by: 4096)
            where bytes[page..<page + 4096].contains(Array(text.utf8)) {
                for index in page..<page + 8 { bytes[index] = 0x5a }
            }
        } else {
            for index in stride(from: 4096, to: bytes.count, by: 7) { bytes[index] = 0x5a }
        }
        try Files.write(bytes, to: path, mode: 0o600)
        // A host that is killed leaves this mark.
        try Files.write("", to: account.vault + "/unclosed")
    }

    private func statuses(_ account: Account) async throws -> [String: String] {
        let listed = try await account.larder("--json", "ls", "-r", "/", "--where", "type == 'file'")
        return Dictionary(
            listed.lines.compactMap { line in
                guard let path = line.value(of: "path"), let status = line.value(of: "cloudStatus") else { return nil }
                return (path, status)
            }, uniquingKeysWith: { $1 })
    }

    @Test("V6: pins and claims come back from the backup, copies are known again, and what is only here stays")
    func restored() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b", "c", "d", "M/e"] { server.tree.put("/\(name)", "first \(name)") }
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try await account.larder("claim", "add", "/a", "--type", "read", "--id", "mine").exitCode == 0)
                // Today's backup is older than the claim, so it is removed and the next run makes another one.
                Files.remove(account.vault + "/backups")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try Files.names(in: account.vault + "/backups") == ["larder-000001.db"])

                // After the backup a file is replaced, a file is new, a folder moves, a file is changed here, and a
                // file is only here.
                server.tree.put("/b", "second b")
                server.tree.put("/new", "new")
                server.tree.move("/M", to: "/N")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try account.text("N/e") == "first M/e" && account.text("b") == "second b")
                try Files.write("mine, and longer", to: account.files + "/c")
                try Files.write("only here", to: account.files + "/letter")
                try await damage(account)

                for arguments in [["run", "--once"], ["check"]] {
                    let result = try await account.larder.run(arguments)
                    #expect(
                        result.exitCode == 74 && result.errors.contains("larder check --restore"), "\(result.summary)")
                }
                let plan = try await account.larder("--json", "check")
                #expect(
                    plan.output.contains(#""state":"damaged""#) && plan.output.contains(#""sound":true"#),
                    "\(plan.summary)")
                let restored = try await account.larder("check", "--restore")
                #expect(
                    restored.exitCode == 0 && restored.errors.contains("will be restored from"), "\(restored.summary)")
                #expect(Files.exists(account.vault + "/damaged-1.db"))
                #expect(try await account.larder("check").exitCode == 0)

                server.forgetRequests()
                let run = try await account.larder("run", "--once")
                #expect(run.exitCode == 0, "\(run.summary)")
                // Files that the backup did not know, and that are as long as the local files, are fetched once to be
                // compared.
                let fetched = server.requests.filter { $0.method == "GET" && $0.status == 200 }.map(\.path)
                #expect(fetched.filter { $0.utf8.count <= 4 }.sorted() == ["/b", "/new"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                var expected = ["/a", "/b", "/d", "/new", "/N/e"].reduce(into: [:]) { $0[$1] = "localCopy" }
                expected["/c"] = "locallyModified"
                expected["/letter"] = "localOnly"
                #expect(try await statuses(account) == expected)
                #expect(try account.text("c") == "mine, and longer" && account.text("letter") == "only here")
                #expect(try account.text("b") == "second b" && account.text("N/e") == "first M/e")
                #expect(try await account.larder("--json", "claim", "list").output.contains("mine"))
                #expect(try await account.larder("--json", "policy", "list").lines.count == 1)
                // The policies that were decided before the backup still work.
                server.tree.put("/later", "later")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try account.text("later") == "later")
            }
        }
    }

    @Test("V6: a restore names what was to be uploaded, and the next run asks about it")
    func queued() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/listed", "a")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("put", "--queue", "\(folder)/mine", "/p").exitCode == 0)
                Files.remove("\(folder)/mine")
                try await damage(account, only: "/listed")
                let restored = try await account.larder("check", "--restore")
                let snapshot = try #require(try Files.names(in: account.vault + "/outgoing").first)
                #expect(
                    restored.exitCode == 0 && restored.output.contains("\(snapshot), 4 B, to /p"),
                    "\(restored.summary)")
                // The journal can still be read.
                #expect(restored.output.contains("not made: upload of /p"), "\(restored.summary)")
                let run = try await account.larder("run", "--once")
                #expect(run.exitCode == 1 && run.errors.contains("to /p"), "\(run.summary)")
                let answered = try await account.larder(
                    "issue", "resolve", "--all", "--code", "upload.found", "upload")
                #expect(answered.exitCode == 0, "\(answered.summary)")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(server.tree.bytes(of: "/p") == Array("mine".utf8))
                #expect(try Files.names(in: account.vault + "/outgoing").isEmpty)
            }
        }
    }

    @Test("V6: of files that were to be uploaded, an answer for all names those for which it could not be carried out")
    func queuedBelowQueued() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/listed", "a")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.write("mine", to: "\(folder)/mine")
                #expect(try await account.larder("mkdir", "--queue", "/new").exitCode == 0)
                for path in ["/new/p", "/q"] {
                    #expect(try await account.larder("put", "--queue", "\(folder)/mine", path).exitCode == 0)
                }
                try await damage(account, only: "/listed")
                #expect(try await account.larder("check", "--restore").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 1)
                let answered = try await account.larder("issue", "resolve", "--all", "--code", "upload.found", "upload")
                #expect(
                    answered.exitCode == 66 && answered.errors.contains("the folder /new is not known"),
                    "\(answered.summary)")
                #expect(try await account.larder("issue", "list").output.contains("/new/p"))
                #expect(try Files.names(in: account.vault + "/outgoing").count == 2)
            }
        }
    }

    @Test("V6: a vault that has lost its database and its mark, but not its backups, is restored, and is not away")
    func lostMark() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/listed", "a")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for name in ["larder.db", "larder.db-wal", "larder.db-shm", "vault"] {
                    Files.remove("\(account.vault)/\(name)")
                }
                let restored = try await account.larder("check", "--restore")
                #expect(restored.exitCode == 0 && restored.output.contains("was restored from"), "\(restored.summary)")
            }
        }
    }

    @Test("V6: a running host makes a backup too, if there is none of the last day")
    func running() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server)
                let host = try account.larder.start(["run"])
                let backup = account.vault + "/backups/larder-000001.db"
                try await soon("there is a backup", beside: host) { Files.exists(backup) }
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                #expect(try await account.larder("--json", "check").output.contains(#""sound":true"#))
            }
        }
    }

    @Test("V6: a restore that is killed at any moment is done again, and copies are known again after it")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<20 { server.tree.put("/F/\(index)", "file \(index)") }
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/F").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for delay in stride(from: 0, through: 60, by: 12) {
                    try await damage(account)
                    let child = try account.larder.start(["check", "--restore"])
                    try await Task.sleep(for: .milliseconds(40 + delay))
                    child.send(SIGKILL)
                    _ = await child.wait()
                    let again = try await account.larder("check", "--restore")
                    #expect(again.exitCode == 0, "\(again.summary)")
                    server.forgetRequests()
                    let run = try await account.larder("run", "--once")
                    #expect(run.exitCode == 0, "\(run.summary)")
                    #expect(server.requests.paths(of: "GET").filter { $0.hasPrefix("/F/") }.isEmpty)
                    #expect(try await statuses(account).values.filter { $0 == "localCopy" }.count == 20)
                }
            }
        }
    }
}
