import DemoServer
import TestServer
import TestSupport
import Testing

/// Observed faults of real servers, each on a test server that has exactly this fault.
@Suite(.serialized) struct TrapTests {
    private func withAccount(_ manner: Manner, _ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.manner = manner
            if !manner.statusDocument { configuration.layout = .prefix("/dav") }
            try await TestServer.running(configuration) { server in
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                try await body(server, account)
            }
        }
    }

    private func sync(_ account: Account) async throws {
        let result = try await account.larder("run", "--once")
        #expect(result.exitCode == 0, "\(result.summary)")
    }

    @Test("an ETag that loses its W/ a second later is the same version: no second download")
    func weakThenStrong() async throws {
        var manner = Manner.plain
        manner.fileETags = .weak
        try await withAccount(manner) { server, account in
            server.tree.put("/a", "x")
            try await sync(account)
            server.behave { $0.fileETags = .strong }
            try await sync(account)
            #expect(server.requests.paths(of: "GET") == ["/a"])
        }
    }

    @Test("I3: folder ETags that tell of children and not of grandchildren hide nothing")
    func grandchildren() async throws {
        try await withAccount(.plain) { server, account in
            server.tree.put("/a/b/c/file", "old")
            try await sync(account)
            server.tree.put("/a/b/c/file", "new")
            try await sync(account)
            #expect(try account.text("a/b/c/file") == "new")
        }
    }

    @Test(
        "ETags without quotes, only on GET, or none at all: changes are found",
        arguments: ["unquoted", "onlyOnGet", "none"])
    func poorETags(_ which: String) async throws {
        let kinds: [String: Manner.FileETags] = ["unquoted": .unquoted, "onlyOnGet": .onlyOnGet, "none": .none]
        var manner = Manner.plain
        manner.fileETags = try #require(kinds[which])
        manner.folderETags = false
        try await withAccount(manner) { server, account in
            server.tree.put("/f/a", "one", modified: 1_000_000)
            try await sync(account)
            #expect(try account.text("f/a") == "one")
            server.forgetRequests()
            try await sync(account)
            #expect(server.requests.paths(of: "GET") == [])
            server.tree.put("/f/a", "two", modified: 1_000_100)
            try await sync(account)
            #expect(try account.text("f/a") == "two")
        }
    }

    @Test("Depth: infinity, which some servers answer with one level, is never asked for")
    func oneLevel() async throws {
        var manner = Manner.plain
        manner.depthInfinity = .oneLevel
        try await withAccount(manner) { server, account in
            server.tree.put("/a/b/c/file", "deep")
            try await sync(account)
            #expect(try account.text("a/b/c/file") == "deep")
            #expect(Set(server.requests.paths(of: "PROPFIND")).isSuperset(of: ["/", "/a", "/a/b", "/a/b/c"]))
        }
    }

    @Test("S16: a file that changes between its listing and its reading is fetched in its new version")
    func changedBetween() async throws {
        try await withAccount(Manner()) { server, account in
            server.tree.put("/a", "x")
            server.add(Fault(.changedBeforeReading, method: "GET", path: "/a", times: 1))
            try await sync(account)
            #expect(try account.text("a") == "x")
        }
    }

    @Test("I1 I2: nothing changed is one PROPFIND; a change is one for each folder above it")
    func oneRequest() async throws {
        try await withAccount(Manner()) { server, account in
            for index in 0..<20 { server.tree.put("/a\(index % 4)/b\(index % 2)/f\(index)", "x") }
            try await sync(account)
            server.forgetRequests()
            try await sync(account)
            #expect(server.requests.paths(of: "PROPFIND") == ["/"])
            #expect(server.requests.paths(of: "GET") == [])
            server.tree.put("/a1/b1/f1", "y")
            server.forgetRequests()
            try await sync(account)
            #expect(Set(server.requests.paths(of: "PROPFIND")) == ["/", "/a1", "/a1/b1"])
            #expect(server.requests.paths(of: "GET") == ["/a1/b1/f1"])
        }
    }

    @Test("P22 I5: a folder that was moved on the server costs no download here")
    func moved() async throws {
        try await withAccount(Manner()) { server, account in
            for index in 0..<5 { server.tree.put("/old/sub/f\(index)", "\(index)") }
            try await sync(account)
            server.forgetRequests()
            #expect(server.tree.move("/old", to: "/new"))
            try await sync(account)
            #expect(server.requests.paths(of: "GET") == [])
            #expect(try account.text("new/sub/f3") == "3")
            #expect(try account.localFiles().count == 5)
        }
    }
}
