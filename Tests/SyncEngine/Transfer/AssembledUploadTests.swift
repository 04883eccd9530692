import Connection
import Database
import DemoServer
import Logging
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

/// Large uploads in parts that a server puts together, with a real connection to one that behaves as Nextcloud does.
struct AssembledUploadTests {
    private static let part = 2_000_000
    /// Six parts.
    private static let text = String(repeating: "0123456789abcdef", count: 700_000)

    /// Calls `body` with a running server and a function that opens a vault, as a start of the host does.
    private func withServer(
        _ body: (TestServer, _ open: () throws -> EngineFixture) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = .nextcloud
        configuration.manner.nextcloud?.largestPart = Self.part
        try await TestServer.running(configuration) { server in
            try await withTemporaryFolder { folder in
                let bookmark = Bookmark(
                    name: "home", url: server.url, username: "demo", vault: folder + "/vault",
                    files: folder + "/vault/files")
                let connection = Connection(
                    bookmark: bookmark,
                    credentials: .basic(username: "demo", password: server.configuration.password),
                    clock: TestClock.jumping().host, logger: Logger(label: "test"))
                do {
                    _ = try await connection.connect()
                    try await body(server) { try EngineFixture(folder: folder, server: connection) }
                    #expect(server.violations.isEmpty)
                } catch {
                    await connection.shutdown()
                    throw error
                }
                await connection.shutdown()
            }
        }
    }

    private func begun(_ fixture: EngineFixture) async throws -> ResumableUpload? {
        guard case .upload(let upload) = try await fixture.records().first?.action else { return nil }
        return upload.begun
    }

    private func expectDone(_ fixture: EngineFixture, _ server: TestServer) async throws {
        server.tree.put("/whole", Self.text)
        #expect(server.tree.sha1(of: "/f") == server.tree.sha1(of: "/whole") && server.openUploads == 0)
        #expect(try await fixture.item("/f").cloudStatus == .localCopy)
        #expect(try await fixture.records().isEmpty)
        #expect(try await fixture.issues().isEmpty)
        #expect(try fixture.outgoing().isEmpty)
    }

    @Test("C6, S24: after a kill between two parts only the parts that are missing are sent")
    func killed() async throws {
        try await withServer { server, open in
            let first = try open()
            try await first.put(Self.text, "/f")
            let hold = server.add(Fault(.hold(), method: "PUT", from: 4, times: 1))
            server.add(Fault(.lostAnswer(executed: false), method: "PUT", from: 4, times: 1))
            let run = Task { try await first.drain() }
            await server.untilHeld(hold)
            let address = try #require(try await begun(first)?.address)
            run.cancel()
            _ = await run.result
            server.remove(hold)
            await until { server.count("PUT") >= 4 }
            try first.vault.close()
            server.forgetRequests()

            let next = try open()
            #expect(try await begun(next)?.address == address)
            #expect(try await next.drain().leftCount == 0)
            try await expectDone(next, server)
            #expect(server.count("MKCOL") == 0 && server.count("PUT") == 3 && server.count("MOVE") == 1)
            try next.vault.close()
        }
    }

    @Test("S10, S24: an upload that was put together while the host was down is done at the next start, at no cost")
    func finishedMeanwhile() async throws {
        try await withServer { server, open in
            let first = try open()
            try await first.put(Self.text, "/f")
            server.add(Fault(.lostAnswer(executed: true), method: "MOVE", times: 1))
            let hold = server.add(Fault(.hold(), method: "PROPFIND", path: "/f", from: 3))
            let run = Task { try await first.drain() }
            await server.untilHeld(hold)
            run.cancel()
            _ = await run.result
            try first.vault.close()
            server.remove(hold)
            server.forgetRequests()

            let next = try open()
            #expect(try await next.drain().leftCount == 0)
            try await expectDone(next, server)
            #expect(server.count("PUT") == 0 && server.count("MOVE") == 0 && server.count("GET", "/f") == 0)
            try next.vault.close()
        }
    }

    @Test(
        "S9, S50: a version that another client wrote before the MOVE becomes an issue, and replacing it replaces that")
    func conflict() async throws {
        try await withServer { server, open in
            let fixture = try open()
            try await fixture.put(Self.text, "/f")
            let hold = server.add(Fault(.hold(), method: "MOVE", times: 1))
            async let outcome = fixture.drain()
            await server.untilHeld(hold)
            server.tree.put("/f", "theirs")
            server.remove(hold)
            #expect(try await outcome.leftCount == 1)
            #expect(server.tree.bytes(of: "/f") == Array("theirs".utf8) && server.openUploads == 0)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "upload.conflict")
            #expect(try await begun(fixture) == nil)
            _ = try await fixture.engine.resolve(issue.id, choice: "replace")
            #expect(try await fixture.drain().leftCount == 0)
            try await expectDone(fixture, server)
            try fixture.vault.close()
        }
    }

    @Test("S8: a name that the server keeps for itself is a refused upload, and no conflict")
    func phantom() async throws {
        try await withServer { server, open in
            server.behave { $0.nextcloud?.listsForbidden = false }
            let fixture = try open()
            try await fixture.put("mine", "/x.part")
            #expect(try await fixture.drain().leftCount == 1)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "upload.refused" && issue.message.contains("shows nothing there"))
            try fixture.vault.close()
        }
    }
}
