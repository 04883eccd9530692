import Glibc
import TestSupport
import Testing

/// Commands that change the server, on servers that nobody here wrote.
@Suite(.serialized) struct ChangeCommandTests {
    /// Runs a test with an account whose server holds two folders, and which knows them.
    private func withAccount(
        _ program: RealServer.Program, _ body: (Account, RealServer) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("one", to: "\(data)/a/one.txt")
            try Files.write("two", to: "\(data)/a/sub/two 100%.txt")
            try Files.write("three", to: "\(data)/b/three.txt")
            try await withServer(program, data: data, options: Account.withLogin) { server in
                try await server.handOverData()
                let account = try Account(in: folder, server)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                try await body(account, server)
            }
        }
    }

    @discardableResult
    private func expect(
        _ code: Int32 = 0, _ account: Account, _ arguments: String...
    ) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == code, "\(arguments): \(result.summary)")
        return result
    }

    @Test(
        "S40 H1: put takes a folder with all below, into one that may exist; what is no file or folder is named",
        arguments: [RealServer.Program.apache, .wsgidav])
    func putFolder(_ program: RealServer.Program) async throws {
        try await withAccount(program) { account, server in
            let (mine, data) = ("\(account.folder)/mine", server.data)
            for number in 0..<230 { try Files.write("\(number)", to: "\(mine)/many/\(number) 100%.txt") }
            try Files.write("deep", to: "\(mine)/x/y/z/ü.txt")
            try Files.makeFolder("\(mine)/empty")
            let first = try await expect(0, account, "put", mine, "/b/new")
            #expect(first.output == "/b/new: 231 files uploaded\n")
            #expect(try Files.names(in: "\(data)/b/new/many").count == 230 && Files.isFolder("\(data)/b/new/empty"))
            #expect(
                try Files.text("\(data)/b/new/x/y/z/ü.txt") == "deep" && account.text("b/new/x/y/z/ü.txt") == "deep")

            try Files.write("more", to: "\(mine)/more.txt")
            try Files.write("deeper", to: "\(mine)/x/y/z/ü.txt")
            #expect(symlink("more.txt", "\(mine)/link") == 0)
            let second = try await account.larder.run(["put", mine, "/b/new"])
            #expect(
                second.exitCode == 73 && second.errors.contains("link is neither a file nor a folder"),
                "\(second.summary)")
            #expect(second.errors.contains("/b/new/x/y/z/ü.txt exists already") && !second.output.contains("uploaded"))
            #expect(try Files.text("\(data)/b/new/more.txt") == "more")
            #expect(try Files.text("\(data)/b/new/x/y/z/ü.txt") == "deep")

            // A file is in the way of the folder: nothing of it is uploaded, and one sentence says so.
            let third = try await account.larder.run(["put", "\(mine)/many", "/a/one.txt"])
            #expect(third.exitCode == 73 && third.errors.split(separator: "\n").count <= 2, "\(third.summary)")
            #expect(unlink("\(mine)/link") == 0)
            try await expect(0, account, "put", "--replace", "--queue", "\(mine)/x", "/b/new/x")
            try await expect(0, account, "run", "--once")
            #expect(try Files.text("\(data)/b/new/x/y/z/ü.txt") == "deeper")
            #expect(try Files.names(in: "\(account.vault)/outgoing").isEmpty)
        }
    }

    @Test("A name that is not UTF-8 is refused before anything is done")
    func notUTF8() async throws {
        try await withAccount(.apache) { account, server in
            var account = account
            try await expect(0, account, "run", "--once")
            account.larder.wrapper = ["sh", "-c", #"exec "$0" "$@" "$(printf '/n\377')""#]
            let refused = try await account.larder("mkdir")
            #expect(refused.exitCode == 65 && refused.errors.contains("is not UTF-8"), "\(refused.summary)")
            account.larder.wrapper = []
            try await expect(0, account, "run", "--once")
            #expect(try await account.larder("sync", "list").output.isEmpty)
        }
    }

    @Test("put names a file or folder of a folder that it may not read, and takes the rest")
    func putUnreadable() async throws {
        try await withAccount(.apache) { account, server in
            var account = account
            let mine = "\(account.folder)/mine"
            for name in ["a", "b", "c/d", "e/f", "z"] { try Files.write(name, to: "\(mine)/\(name)") }
            #expect(chmod("\(mine)/b", 0) == 0 && chmod("\(mine)/c", 0) == 0)
            if Build.isRoot {
                // Root may read everything.
                account.larder.unprivileged = true
                for name in try Files.names(in: account.folder) where name != "data" {
                    try await mustRun("chown", ["-R", "\(Build.unprivilegedUser)", "\(account.folder)/\(name)"])
                }
            }
            let said = try await account.larder.run(["put", mine, "/new"])
            #expect(said.exitCode == 77 && said.errors.contains("mine/b may not be read"), "\(said.summary)")
            #expect(said.errors.contains("mine/c may not be read"), "\(said.summary)")
            #expect(try Files.names(in: "\(server.data)/new").sorted() == ["a", "c", "e", "z"])
            #expect(chmod("\(mine)/c", 0o700) == 0)
        }
    }

    /// The paths in the list, as people see them.
    private func listed(_ account: Account) async throws -> [String] {
        // The path is the first field.
        try await account.larder("--json", "ls", "-r").output.split(separator: "\n").compactMap {
            $0.split(separator: "\"", maxSplits: 4).dropFirst(3).first.map(String.init)
        }.sorted()
    }

    @Test(
        "S40: folders and files are made, moved, copied, uploaded and deleted on each server",
        arguments: RealServer.Program.allCases)
    func life(_ program: RealServer.Program) async throws {
        try await withAccount(program) { account, server in
            let data = server.data
            try await expect(0, account, "mkdir", "/new")
            try await expect(73, account, "mkdir", "/new")
            try await expect(66, account, "mkdir", "/nowhere/new")
            try await expect(0, account, "mv", "/a/one.txt", "/new/uno #1 50%.txt")
            try await expect(0, account, "mv", "/a", "/z")
            try await expect(65, account, "mv", "/z", "/z/sub/z")
            try await expect(73, account, "mv", "/z", "/b")
            try await expect(0, account, "cp", "/b/three.txt", "/new/drei.txt")
            try await expect(0, account, "cp", "/z", "/y")
            try await expect(73, account, "cp", "/z", "/b")
            #expect(try Files.text("\(data)/new/uno #1 50%.txt") == "one")
            #expect(try Files.text("\(data)/z/sub/two 100%.txt") == "two" && !Files.exists("\(data)/a"))
            #expect(try Files.text("\(data)/new/drei.txt") == "three" && Files.text("\(data)/b/three.txt") == "three")
            #expect(try Files.text("\(data)/y/sub/two 100%.txt") == "two")

            let mine = "\(account.folder)/mine.txt"
            try Files.write("mine", to: mine)
            try await expect(0, account, "put", mine, "/new/mine.txt")
            #expect(try Files.text("\(data)/new/mine.txt") == "mine")
            #expect(try account.text("new/mine.txt") == "mine")
            try Files.write("mine, too", to: mine)
            try await expect(73, account, "put", mine, "/new/mine.txt")
            try await expect(0, account, "put", "--replace", mine, "/new/mine.txt")
            #expect(try Files.text("\(data)/new/mine.txt") == "mine, too")
            #expect(try account.text("new/mine.txt") == "mine, too")
            try await expect(66, account, "put", "\(account.folder)/no such file", "/new/other.txt")

            try await expect(65, account, "rm", "/")
            // What nginx leaves out of its listings was not seen, so a person has to say that it may go.
            try await expect(program == .nginx ? 1 : 0, account, "rm", "/z")
            if program == .nginx {
                #expect(Files.exists("\(data)/z"))
                try await expect(0, account, "issue", "resolve", "--all", "--code", "delete.changed", "force")
                try await expect(0, account, "run", "--once")
            }
            try await expect(0, account, "rm", "/b/three.txt")
            #expect(!Files.exists("\(data)/z") && !Files.exists("\(data)/b/three.txt"))
            try await expect(1, account, "favorite", "/b")
            try await expect(1, account, "touch", "/new/mine.txt")
            try await expect(65, account, "touch", "/new/mine.txt", "--time", "yesterday")

            // What the next walk finds is what the list says already.
            let expected = [
                "/b", "/new", "/new/drei.txt", "/new/mine.txt", "/new/uno #1 50%.txt", "/y", "/y/sub",
                "/y/sub/two 100%.txt",
            ]
            #expect(try await listed(account) == expected)
            try await expect(0, account, "run", "--once")
            #expect(try await listed(account) == expected)
            // One run makes a copy and lists what is in it.
            try await expect(0, account, "cp", "--queue", "/y", "/b/x")
            try await expect(0, account, "run", "--once")
            #expect(
                try await listed(account) == expected[..<1] + ["/b/x", "/b/x/sub", "/b/x/sub/two 100%.txt"]
                    + expected[1...])
            #expect(try await account.larder("sync", "list").output == "")
        }
    }

    @Test("S7: commands without a network are queued, shown and named, and made in order when it is back")
    func offline() async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("one", to: "\(data)/a/one.txt")
            try await withServer(.wsgidav, data: data, options: Account.withLogin) { server in
                try await expect(0, try Account(in: folder, server), "run", "--once")
                let away = try Account(in: folder, server, more: [Account.offline])
                let said = try await expect(69, away, "mkdir", "/new")
                #expect(said.errors.contains("sync cancel 1"), "\(said.summary)")
                try Files.write("mine", to: "\(folder)/mine")
                try await expect(0, away, "put", "--queue", "\(folder)/mine", "/new/mine")
                Files.remove("\(folder)/mine")
                try await expect(0, away, "mv", "--queue", "/a/one.txt", "/new/one.txt")
                try await expect(0, away, "rm", "--queue", "/a")
                #expect(try await listed(away) == ["/new", "/new/mine", "/new/one.txt"])
                let records = try await away.larder("--json", "sync", "list").output
                for action in ["createFolder", "upload", "move", "delete"] {
                    #expect(records.contains("\"\(action)\""))
                }
                let back = try Account(in: folder, server)
                try await expect(0, back, "run", "--once")
                #expect(try Files.filesBelow(data) == ["new/mine", "new/one.txt"])
                #expect(try await listed(back) == ["/new", "/new/mine", "/new/one.txt"])
            }
        }
    }

    @Test(
        "S18 I10: what changed on the server since keeps a folder from being deleted, and a walk does not bring it back",
        arguments: [RealServer.Program.apache, .wsgidav])
    func deletionOfNews(_ program: RealServer.Program) async throws {
        try await withAccount(program) { account, server in
            try await expect(0, account, "rm", "--queue", "/a")
            try await server.put("a/sub/new.txt", "new")
            try await server.handOverData()
            let run = try await expect(1, account, "run", "--once")
            #expect(run.errors.contains("/a/sub/new.txt"), "\(run.summary)")
            #expect(try await listed(account) == ["/b", "/b/three.txt"])
            #expect(try Files.text("\(server.data)/a/one.txt") == "one")
            let issue = try #require(try await account.larder("--json", "issue", "list").number("id"))
            try await expect(0, account, "issue", "resolve", issue, "cancel")
            try await expect(0, account, "run", "--once")
            #expect(
                try await listed(account) == [
                    "/a", "/a/one.txt", "/a/sub", "/a/sub/new.txt", "/a/sub/two 100%.txt", "/b", "/b/three.txt",
                ])
        }
    }

    @Test("P23: a pinned folder that is moved keeps its pin and its copies, and gets both back when that is taken back")
    func pinnedFolder() async throws {
        try await withAccount(.apache) { account, server in
            try await expect(0, account, "pin", "/a")
            try await expect(0, account, "run", "--once")
            try await server.forgetRequests()
            try await expect(0, account, "mv", "--queue", "/a", "/b/a")
            #expect(try account.text("b/a/sub/two 100%.txt") == "two" && account.text("a/one.txt") == nil)
            let record = try #require(try await account.larder("--json", "sync", "list").number("id"))
            try await expect(0, account, "sync", "cancel", record)
            #expect(try account.text("a/sub/two 100%.txt") == "two" && account.text("b/a/one.txt") == nil)

            // A deletion that the server has not made yet takes neither the pin nor the copies.
            try await expect(0, account, "rm", "--queue", "/a")
            #expect(try account.text("a/one.txt") == "one")
            try await server.put("a/new.txt", "new")
            try await expect(1, account, "run", "--once")
            #expect(try await account.larder("policy", "list").output.contains("/a"))
            let issue = try #require(try await account.larder("--json", "issue", "list").number("id"))
            try await expect(0, account, "issue", "resolve", issue, "cancel")
            #expect(try account.text("a/sub/two 100%.txt") == "two")
            try await server.forgetRequests()
            try await expect(0, account, "mv", "/a", "/b/a")
            try await expect(0, account, "run", "--once")
            #expect(try account.text("b/a/sub/two 100%.txt") == "two")
            let policies = try await account.larder("policy", "list")
            #expect(policies.output.contains("/b/a"), "\(policies.summary)")
            #expect(try await server.requests().allSatisfy { $0.method != "GET" || !$0.path.contains("one.txt") })
        }
    }

    @Test(
        "a running host makes the changes, and its own listings do not undo them",
        arguments: [RealServer.Program.apache, .rclone])
    func beside(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("one", to: "\(data)/a/one.txt")
            try await withServer(program, data: data, options: Account.withLogin) { server in
                try await server.handOverData()
                let account = try Account(in: folder, server, settings: ["poll: 1s", "walk: 1s"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                do { try await changeBesideHost(account, data) } catch {
                    await host.stop()
                    throw error
                }
                host.send(SIGTERM)
                #expect(await host.wait(atMost: .seconds(120)) == .code(0))
            }
        }
    }

    private func changeBesideHost(_ account: Account, _ data: String) async throws {
        try await until { try await account.larder("stat", "/a/one.txt").exitCode == 0 }
        let mine = "\(account.folder)/mine"
        for number in 0..<12 {
            try Files.write("mine \(number)", to: mine)
            try await expect(0, account, "mkdir", "/n\(number)")
            try await expect(0, account, "put", mine, "/n\(number)/f")
            try await expect(0, account, "mv", "/n\(number)", "/m\(number)")
            let stat = try await expect(0, account, "--json", "stat", "/m\(number)/f")
            #expect(stat.output.contains(#""cloudStatus":"localCopy""#), "\(stat.summary)")
            if number % 2 == 0 { try await expect(0, account, "rm", "/m\(number)") }
        }
        let left = (0..<12).filter { $0 % 2 == 1 }.map { "m\($0)/f" }.sorted()
        #expect(try Files.filesBelow(data).filter { $0 != "a/one.txt" }.sorted() == left)
        let all = (["/a", "/a/one.txt"] + left.flatMap { ["/" + $0.dropLast(2), "/" + $0] }).sorted()
        #expect(try await until { try await listed(account) == all })
        for file in left { #expect(try account.text(file) != nil) }
        // The copy of a folder is listed when the command ends.
        try await expect(0, account, "cp", "/a", "/c")
        #expect(try await listed(account) == (all + ["/c", "/c/one.txt"]).sorted())
    }
}

extension ProcessResult {
    /// Returns the digits of the first member with this name.
    fileprivate func number(_ name: String) -> String? {
        guard let start = output.firstRange(of: "\"\(name)\":") else { return nil }
        return String(output[start.upperBound...].prefix { $0.isNumber })
    }
}
