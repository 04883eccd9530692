import Connection
import Database
import DemoServer
import Logging
import Model
import SyncEngine
import Synchronization
import TestServer
import TestSupport
import Testing
import Vault

/// Large uploads that were interrupted, with a real connection to a server that offers resumable ones.
struct ResumedUploadTests {
    private static let part = 2_000_000
    /// Six parts.
    private static let text = String(repeating: "0123456789abcdef", count: 700_000)

    /// Calls `body` with a running server and a function that opens a vault, as a start of the host does.
    private func withServer(
        _ body: (TestServer, _ open: () throws -> EngineFixture) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner.tus?.largestChunk = Self.part
        configuration.manner.tus?.terminates = true
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
        let isEqual = try fixture.text("/f") == Self.text
        #expect(isEqual)
        #expect(try await fixture.records().isEmpty)
        #expect(try await fixture.issues().isEmpty)
        #expect(try fixture.outgoing().isEmpty)
    }

    @Test("C6, S24: an upload whose host ended in the midst goes on at its offset after the next start")
    func killed() async throws {
        try await withServer { server, open in
            let first = try open()
            try await first.put(Self.text, "/f")
            // The part is held, and then lost.
            let hold = server.add(Fault(.hold(), method: "PATCH", from: 3, times: 1))
            server.add(Fault(.lostAnswer(executed: false), method: "PATCH", from: 3, times: 1))
            let run = Task { try await first.drain() }
            await server.untilHeld(hold)
            // The upload's address is in the journal.
            let address = try #require(try await begun(first)?.address)
            #expect(address.hasPrefix(server.url))
            run.cancel()
            _ = await run.result
            server.remove(hold)
            await until { server.count("PATCH") >= 3 }
            try first.vault.close()

            let next = try open()
            #expect(try await begun(next)?.address == address)
            #expect(try await next.drain().leftCount == 0)
            try await expectDone(next, server)
            #expect(server.count("POST") == 1 && server.receivedBytes <= Self.text.utf8.count + Self.part)
            try next.vault.close()
        }
    }

    @Test("E1, C6: an upload that came to its end while the host was down is done at the next start, and costs nothing")
    func finishedMeanwhile() async throws {
        try await withServer { server, open in
            let first = try open()
            try await first.put(Self.text, "/f")
            let lost = server.add(Fault(.lostAnswer(executed: true), method: "PATCH", from: 6))
            // From its end on the server says nothing.
            let hold = server.add(Fault(.hold(), method: "PROPFIND", path: "/f", from: 3))
            let run = Task { try await first.drain() }
            await server.untilHeld(hold)
            run.cancel()
            _ = await run.result
            try first.vault.close()
            server.remove(hold)
            server.remove(lost)
            server.forgetRequests()

            let next = try open()
            #expect(try await next.drain().leftCount == 0)
            try await expectDone(next, server)
            #expect(server.count("POST") == 0 && server.count("PATCH") == 0 && server.count("GET", "/f") == 0)
            try next.vault.close()
        }
    }

    @Test("C6, S9: a version that came before the last part becomes an issue, and replacing it begins a new upload")
    func conflict() async throws {
        try await withServer { server, open in
            let fixture = try open()
            try await fixture.put(Self.text, "/f")
            let hold = server.add(Fault(.hold(), method: "PATCH", from: 4, times: 1))
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
            #expect(server.count("POST") == 2)
            try fixture.vault.close()
        }
    }

    @Test("C6, S28: an upload that is taken back in the midst is dropped on the server")
    func takenBack() async throws {
        try await withServer { server, open in
            let fixture = try open()
            try await fixture.put(Self.text, "/f")
            server.add(Fault(.status(503), method: "PATCH", from: 3))
            #expect(try await fixture.drain().leftCount == 1)
            #expect(server.openUploads == 1)
            let record = try #require(try await fixture.records().first)
            #expect(!record.mayHaveArrived)
            try await fixture.engine.cancel(record.id)
            let run = Task { try await fixture.run() }
            await until { server.openUploads == 0 }
            run.cancel()
            _ = await run.result
            #expect(server.count("DELETE") == 1 && server.openUploads == 0)
            #expect(try await fixture.records().isEmpty)
            #expect(try fixture.outgoing().isEmpty)
            try fixture.vault.close()
        }
    }

    @Test("C6, S36: an upload that is replaced by a newer one of the same file is not gone on with")
    func replaced() async throws {
        try await EngineFixture.with { fixture in
            let script = fixture.source.changing
            script.state.withLock { state in
                (state.begins, state.steps) = ("https://h/1", Array(repeating: .fail, count: 1_000))
            }
            try await fixture.put("mine", "/f")
            _ = try await fixture.drain()
            #expect(try await begun(fixture)?.address == "https://h/1")
            #expect(script.state.withLock { Set($0.begun) } == [nil, "https://h/1"])
            script.state.withLock { ($0.begins, $0.steps, $0.begun) = ("https://h/2", [], []) }
            try await fixture.put("newer", "/f", replaces: true)
            let run = Task { try await fixture.run() }
            await until { script.state.withLock { !$0.begun.isEmpty && !$0.terminated.isEmpty } }
            await until { (try? await fixture.records().isEmpty) == true }
            run.cancel()
            _ = await run.result
            #expect(script.state.withLock { $0.begun } == [nil])
            #expect(script.state.withLock { $0.terminated } == ["https://h/1"])
            #expect(try fixture.text("/f") == "newer")
        }
    }
}
