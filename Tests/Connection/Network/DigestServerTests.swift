import Logging
import Model
import TestSupport
import Testing

@testable import Connection

/// Tests of Digest authentication on servers of other projects.
@Suite(.serialized) struct DigestServerTests {
    private static let user = (name: "ada", password: "pass word:\u{fc}")

    /// Runs a server that requires Digest, with 20 files, and a connection to it.
    private func running(
        _ program: RealServer.Program, _ credentials: Credentials, _ login: RealServer.Options.Login = .digest(),
        _ body: (RealServer, Connection) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            for number in 0..<20 { try Files.write("text \(number)", to: "\(data)/a folder/f\(number), \u{fc}.txt") }
            var options = RealServer.Options()
            (options.user, options.login) = (Self.user, login)
            try await withServer(program, data: data, options: options) { server in
                let connection = Connection(
                    bookmark: .at(server.url, username: Self.user.name), credentials: credentials,
                    logger: Logger(label: "test"))
                try await closing(connection) { try await body(server, connection) }
            }
        }
    }

    /// Downloads all files at once.
    private func fetchAll(_ connection: Connection) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let sink = MemorySink()
                    _ = try await connection.downloads.get(path("/a folder/f\(number), \u{fc}.txt"), into: sink)
                    #expect(sink.bytes == Array("text \(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "C10: files come with Digest, which is asked for once and not again for each request",
        arguments: [RealServer.Program.apache, .wsgidav], [true, false])
    func downloads(_ program: RealServer.Program, _ isNamed: Bool) async throws {
        let credentials: Credentials =
            isNamed
            ? .digest(username: Self.user.name, password: Self.user.password)
            : .password(username: Self.user.name, password: Self.user.password)
        try await running(program, credentials) { server, connection in
            _ = try await connection.connect()
            #expect(try await connection.entries(of: path("/a folder")).entries.count == 20)
            try await fetchAll(connection)
            let answer = try await connection.loopRequests.exchange(
                PlainRequest("PROPFIND", "/a%20folder/?a=b", headers: [("Depth", "0")]))
            #expect(answer.status == 207)
            guard program == .apache else { return }
            // The status document is asked for without a login, and the root's first request is the one that asks.
            let refused = try await server.requests().filter { $0.status == 401 }
            #expect(refused.map(\.method) == ["GET", "PROPFIND"])
        }
    }

    @Test(
        "C2 C10: a wrong password is answered once, and then nothing is sent",
        arguments: [RealServer.Program.apache, .wsgidav])
    func wrong(_ program: RealServer.Program) async throws {
        try await running(program, .digest(username: Self.user.name, password: "wrong")) { server, connection in
            for _ in 0..<3 {
                let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                #expect(error?.kind == .authentication && error?.message.contains("does not accept") == true)
            }
            if program == .apache {
                let requests = try await server.requests()
                #expect(requests.map(\.status) == [401, 401, 401])
            }
            connection.use(.digest(username: Self.user.name, password: Self.user.password))
            _ = try await connection.connect()
        }
    }

    @Test("C10: a nonce that Apache calls too old is replaced, which no download notices")
    func stale() async throws {
        let credentials = Credentials.password(username: Self.user.name, password: Self.user.password)
        try await running(.apache, credentials, .digest(lifetime: 1)) { server, connection in
            _ = try await connection.connect()
            // Each answer names the next nonce, so a nonce becomes too old only in a pause.
            try await fetchAll(connection)
            try await Task.sleep(for: .milliseconds(1_500))
            try await fetchAll(connection)
            let refused = try await server.requests().count { $0.status == 401 }
            #expect(refused > 2)
            #expect(connection.refusal == nil)
        }
    }

    @Test("C10: a server that offers Basic alone gets no password from an account that says Digest")
    func basicAlone() async throws {
        let credentials = Credentials.digest(username: Self.user.name, password: Self.user.password)
        try await running(.apache, credentials, .basic) { server, connection in
            let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(error?.message.hasSuffix("no kind of login that the account can use, only Basic") == true)
            let requests = try await server.requests()
            #expect(requests.count == 2)
        }
    }
}
