import Logging
import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

/// The heads of answers as they come over the network.
@Suite struct AnswerHeadTests {
    private func put(_ answer: String) async throws -> Result<WriteOutcome, ConnectionError> {
        var result = Result<WriteOutcome, ConnectionError>.failure(ConnectionError(.cancelled, "nothing was sent"))
        try await RawServer.running { upload in
            _ = upload.read(upload.length)
            upload.answer(answer)
        } _: { server in
            let connection = Connection(
                bookmark: .at(server.url), credentials: .basic(username: "ada", password: "x"), limits: Limits(),
                clock: .system, logger: Logger(label: "test"), timeLimits: TimeLimits())
            try await closing(connection) {
                _ = try await connection.connect()
                do throws(ConnectionError) {
                    result = .success(
                        try await connection.writes.put(
                            path("/a"), UploadRequest(base: .new, size: 3), from: MemorySource("abc")))
                } catch {
                    result = .failure(error)
                }
            }
            #expect(server.puts == 1)
        }
        return result
    }

    @Test("answers before the answer are passed over, and a value may go on in the next line")
    func early() async throws {
        let answer = try await put(
            "HTTP/1.1 103 Early Hints\r\nETag: \"wrong\"\r\n\r\nHTTP/1.1 201 Created\r\netag:\r\n  \"e\" \r\n"
                + "Content-Length: 0\r\n\r\n")
        guard case .success(.done(let done)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(done.etag == ETag(field: "\"e\""))
    }

    @Test("C12: a head that goes on and on is given up, and what is no HTTP is said to be none")
    func endless() async throws {
        let field = "X: \(String(repeating: "x", count: 1_000))\r\n"
        let long = try await put("HTTP/1.1 201 Created\r\n" + String(repeating: field, count: 2_000))
        let strange = try await put("220 mail.example.org ESMTP ready\r\n\r\n")
        // A line that goes on with a value, where there is none yet.
        let folded = try await put(
            "HTTP/1.1 201 Created\r\n X: \(String(repeating: "y", count: 500))\r\nContent-Length: 0\r\n\r\n")
        for answer in [long, strange, folded] {
            guard case .failure(let error) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(error.kind == .protocolViolation && error.mayHaveArrived, "\(error)")
        }
    }

    @Test("names of fields are compared without case, lists are taken apart, and no field can begin another")
    func fields() async throws {
        var headers: HTTPHeaders = ["DAV": "1, 2", "dav": " access-control ,", "ETag": "\"e\""]
        #expect(headers[canonicalForm: "Dav"] == ["1", "2", "access-control", ""].dropLast())
        #expect(headers.first(name: "etag") == "\"e\"" && !headers.contains(name: "eta"))
        headers.replaceOrAdd(name: "ETAG", value: "2")
        #expect(headers["etag"] == ["2"] && headers["D@V"] == [])
        #expect(HTTPHeaders([("Content-Encoding", ""), ("content-encoding", "Identity, ")]).contentCoding == nil)
        #expect(HTTPHeaders([("Content-Encoding", "identity"), ("content-encoding", "gzip")]).contentCoding == "gzip")
        let client = TransferClient(
            .init(connections: 1, connecting: .seconds(1), silence: .seconds(1)), ServerTrust { _ in nil })
        for (name, value) in [("X", "a\r\nB: c"), ("X", "a\u{0}"), ("X: y\r\nB", "c"), ("", "c"), ("Ü", "c")] {
            let request = TransferRequest(
                method: "GET", url: "http://127.0.0.1:1/", headers: [name: value],
                limits: AnswerLimits(head: .seconds(1), body: .none, errorDocument: .seconds(1)))
            let error = #expect(throws: TransportError.self) { try client.start(request) }
            guard case .badRequest? = error else {
                Issue.record("\(name): \(value)")
                continue
            }
        }
        await client.shutdown()
    }
}
