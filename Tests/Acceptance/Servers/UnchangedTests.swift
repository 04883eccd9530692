import DemoServer
import TestServer
import TestSupport
import Testing

/// The requests of a run that finds nothing new.
@Suite(.serialized) struct UnchangedTests {
    @Test("I1: where nothing changed a run asks the ownCloud family at most three things for the items")
    func family() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<20 { server.tree.put("/a\(index)/b/1", "x") }
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                try await sync(account)
                server.forgetRequests()
                try await sync(account)
                let asked = server.requests.map { "\($0.method) \($0.path)" }
                #expect(asked.count { $0 == "PROPFIND /" || $0.hasSuffix("status.php") } == 1, "\(asked)")
                // The homes of the calendars are already known, too.
                #expect(asked.count { $0.hasPrefix("PROPFIND") } <= 2, "\(asked)")
                #expect(asked.count <= 6, "\(asked)")
            }
        }
    }

    @Test("I3: a plain server is asked for each folder once, and not again what kind of server it is")
    func apache() async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.makeFolder(data)
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                // What changed within the second before its listing is fetched once more: these files are old.
                for index in 0..<5 { try await server.put("folder \(index)/sub/1", "x", modified: 1_700_000_000) }
                try await server.handOverData()
                let account = try Account(
                    in: folder, server,
                    settings: ["plugins: { core-loop: { enabled: false }, calendar-loop: { enabled: false } }"])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                try await sync(account)
                try await server.forgetRequests()
                try await sync(account)
                let asked = try await server.requests()
                #expect(asked.count == 11 && asked.allSatisfy { $0.method == "PROPFIND" }, "\(asked)")
                let status = try await account.larder("status")
                #expect(status.output.contains("  server     plain WebDAV: "), "\(status.summary)")
            }
        }
    }

    @Test(
        "I3: a space's own address is of the ownCloud family, whatever its status document answers",
        arguments: [401, 404])
    func space(_ code: Int) async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.layout = .prefix("/dav/spaces/a$b")
            try await TestServer.running(configuration) { server in
                server.add(Fault(.status(code), path: "/status.php"))
                for index in 0..<20 { server.tree.put("/a\(index)/b/1", "x") }
                let account = try Account(
                    in: folder, url: server.folderURL, user: server.configuration.user,
                    password: server.configuration.password)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                try await sync(account)
                server.forgetRequests()
                try await sync(account)
                #expect(server.requests.paths(of: "PROPFIND").count { $0 == "/" || $0.hasPrefix("/a") } == 1)
                let status = try await account.larder("--json", "status")
                #expect(status.output.contains(#""server":{"kind":"ownCloudFamily""#), "\(status.summary)")
                #expect(status.output.contains("it has capabilities, and items have oc:id"))
            }
        }
    }

    private func sync(_ account: Account) async throws {
        let result = try await account.larder("run", "--once")
        #expect(result.exitCode == 0, "\(result.summary)")
    }
}
