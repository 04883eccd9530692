import DemoServer
import TestServer
import TestSupport
import Testing

@Suite(.serialized) struct HardNamesTests {
    @Test("I8: names of any kind come over as they are, and removing one folder leaves those named alike")
    func hardNames() async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            for name in HardNames.files { try Files.write(name, to: "\(data)/\(name)") }
            for name in ["a_b", "axb", "Docs", "docs", "caf\u{e9} folder", "cafe\u{301} folder", "%2e%2e"] {
                try Files.write(name, to: "\(data)/\(name)/in#side?.txt")
            }
            // The files get old times, because a file that is listed within a second of its change is correctly fetched
            // once more.
            try await mustRun("find", [data, "-exec", "touch", "-d", "1 hour ago", "{}", "+"])
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                #expect(try await account.difference(from: data) == "")

                Files.remove("\(data)/a_b")
                Files.remove("\(data)/Docs")
                try await server.forgetRequests()
                let second = try await account.larder("run", "--once")
                #expect(second.exitCode == 0, "\(second.summary)")
                #expect(try account.text("axb/in#side?.txt") == "axb")
                #expect(try account.text("docs/in#side?.txt") == "docs")
                let listed = try await account.larder("--json", "ls", "/", "-r").output
                #expect(listed.contains("\"/axb/in#side?.txt\"") && listed.contains("\"/docs/in#side?.txt\""))
                #expect(!listed.contains("\"/a_b/in#side?.txt\"") && !listed.contains("\"/Docs/in#side?.txt\""))
                #expect(try await server.requests().paths(of: "GET").allSatisfy { !$0.contains("in#side") })
            }
        }
    }

    @Test("I7: a file becomes a folder and a file again, with another's content each time")
    func fileBecomesFolder() async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("file", to: "\(data)/thing")
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server, settings: ["plugins:", "  vacuum: { after: 0s }"])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try account.text("thing") == "file")
                // The vacuum processor removes the copy, which it does at once here. Then the path is free for the new
                // item.
                Files.remove("\(data)/thing")
                try await server.put("thing/below/x", "folder")
                let folderRun = try await account.larder("run", "--once")
                #expect(folderRun.exitCode == 0, "\(folderRun.summary)")
                #expect(try await account.difference(from: data) == "")
                Files.remove("\(data)/thing")
                try await server.put("thing", "file again")
                let fileRun = try await account.larder("run", "--once")
                #expect(fileRun.exitCode == 0, "\(fileRun.summary)")
                #expect(try await account.difference(from: data) == "")
            }
        }
    }

    @Test("names that would leave the tree are one issue a folder, and nothing is written for them")
    func namesThatLeave() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/good", "good")
                server.tree.put("/deep/\(String(repeating: "n", count: 256))", "too long")
                let hrefs = ["..", "..%2Fescaped", "%2e%2e", "a%2Fb", "a%00b", "not%FFtext"].map { Array($0.utf8) }
                server.add(Fault(.foreignEntries(hrefs), method: "PROPFIND", path: "/deep"))
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let result = try await account.larder("run", "--once")
                #expect(result.exitCode == 1, "\(result.summary)")
                #expect(try account.localFiles() == ["good"])
                #expect(!Files.exists("\(folder)/escaped") && !Files.exists("\(account.vault)/escaped"))
                let issues = try await account.larder("--json", "issue", "list").lines
                #expect(issues.count == 1 && issues[0].contains("7 entries of /deep"), "\(issues)")
                #expect(server.requests.paths(of: "GET") == ["/good"])
            }
        }
    }

    @Test("a symbolic link in the tree's way is an issue, and nothing is written through it")
    func symlink() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/Docs/first", "1")
                server.tree.put("/other", "2")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                try Files.makeFolder("\(folder)/outside")
                Files.remove("\(account.files)/Docs")
                try await mustRun("ln", ["-s", "\(folder)/outside", "\(account.files)/Docs"])
                server.tree.put("/Docs/second", "3")
                server.tree.put("/other", "4")
                let result = try await account.larder("run", "--once")
                #expect(result.exitCode == 1, "\(result.summary)")
                #expect(try Files.names(in: "\(folder)/outside") == [])
                #expect(try account.text("other") == "4")
                #expect(try await account.larder("issue", "list").output.contains("Docs"))
            }
        }
    }
}

extension [TestServer.LoggedRequest] {
    /// Returns the paths of the tree that were requested with a method.
    func paths(of method: String) -> [String] {
        filter { $0.method == method && !$0.path.hasPrefix("/ocs/") && $0.path != "/status.php" }.map(\.path)
    }
}
