import Glibc
import TestSupport
import Testing

/// Two contents of equal size within one second, which the ETags of many servers do not distinguish.
@Suite(.serialized) struct RaceTests {
    private func withAccount(
        _ program: RealServer.Program, _ body: (RealServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.write("other", to: "\(data)/other")
            try await withServer(program, data: data, options: Account.withLogin) { server in
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

    private func number(of file: String) -> ino_t {
        var info = stat()
        return stat(file, &info) == 0 ? info.st_ino : 0
    }

    @Test("WsgiDAV gives two contents of one second one ETag: the second is fetched by a later scan, and that is all")
    func oneETag() async throws {
        try await withAccount(.wsgidav) { server, account in
            // The file's time is in the future, so the server's clock has not passed it when the file is first listed,
            // however long the listing takes.
            let second = time(nil) + 15
            try await server.put("a", "one", modified: second)
            let etag = try await self.etag("a", server)
            try await sync(account)
            #expect(try account.text("a") == "one")
            try await server.put("a", "two", modified: second)
            #expect(try await self.etag("a", server) == etag)
            // As soon as the server's clock has passed the file's second, a scan fetches the file once more.
            try await soon("the second content comes") {
                try await sync(account)
                return try account.text("a") == "two"
            }
            let copy = number(of: "\(account.files)/a")
            for _ in 0..<3 { try await sync(account) }
            #expect(number(of: "\(account.files)/a") == copy)
        }
    }

    @Test(
        "Apache tells contents of one second apart by weak ETags: a change is fetched, an ETag that turns strong is not"
    )
    func weakETags() async throws {
        try await withAccount(.apache) { server, account in
            // The files' times are in the future, so the server's clock has not passed them during the listings,
            // however long these take. A listing between one and two seconds after the change would have a strong ETag,
            // and the file would be fetched once more.
            let second = time(nil) + 15
            try await server.put("a", "one", modified: second)
            try await sync(account)
            #expect(try account.text("a") == "one")
            try await server.put("a", "two", modified: second + 1)
            #expect(try await etag("a", server).contains("W/"))
            try await sync(account)
            #expect(try account.text("a") == "two")
            try await soon("the ETag is strong") { try await !etag("a", server).contains("W/") }
            try await server.forgetRequests()
            for _ in 0..<2 { try await sync(account) }
            #expect(try await server.requests().paths(of: "GET").filter { $0 == "/a" } == [])
        }
    }

    private func etag(_ path: String, _ server: RealServer) async throws -> String {
        let login = "\(Account.login.name):\(Account.login.password)"
        let head = try await mustRun("curl", ["-sS", "-I", "-u", login, server.url + path])
        let field = head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("etag:") }
        return try #require(field.map(String.init))
    }
}
