import Model
import Testing
import Transfer

@testable import Connection

private func all(_ answer: MultistatusAnswer) async throws -> [MultistatusResponse] {
    var responses: [MultistatusResponse] = []
    while let response = try await answer.next() { responses.append(response) }
    return responses
}

struct MultistatusRequestTests {
    private func report(_ answer: @escaping @Sendable () -> HTTPAnswer) async throws -> MultistatusAnswer {
        let transport = ScriptedTransport { _, _ throws(TransportError) in answer() }
        return try await Connection("https://h/", over: transport).loopRequests.multistatus(
            MultistatusRequest("REPORT", "/cal/ada/", body: Array("<x/>".utf8), properties: [Sync.etag]))
    }

    @Test("responses come one by one, then what is known at the end")
    func streams() async throws {
        let bytes = Array(Sync.sabre.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[$0..<min($0 + 7, bytes.count)]) }
        let answer = try await report { HTTPAnswer(status: 207, headers: [:], body: ScriptedBody(chunks: pieces)) }
        #expect(try await answer.next()?.href == "/cal/ada/1.ics")
        #expect(await answer.end == nil)
        #expect(try await answer.next()?.status == 404)
        #expect(try await answer.next() == nil)
        #expect(try await answer.next() == nil)
        #expect(await answer.end?.syncToken == "http://sabre.io/ns/sync/5" && answer.status == 207)
    }

    @Test("a PROPFIND without a body asks for the properties; a REPORT needs one")
    func bodies() async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(207, [:], Sync.sabre) }
        let connection = Connection("https://h/", over: transport)
        let request = MultistatusRequest("PROPFIND", "/cal/ada/", depth: .one, properties: [Sync.etag])
        _ = try await all(try await connection.loopRequests.multistatus(request))
        let sent = transport.requests[0]
        #expect(sent.body == (try AskedProperties([Sync.etag]).propfind))
        #expect(sent.headers.first(name: "Depth") == "1")
        #expect(sent.headers.first(name: "Content-Type") == "application/xml; charset=utf-8")
        for wrong in [
            MultistatusRequest("REPORT", "/", properties: []), MultistatusRequest("PROPFIND", "/", properties: ["x"]),
            MultistatusRequest("PROPFIND", "https://evil/", properties: []),
        ] {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.multistatus(wrong)
            }
            #expect(error?.kind == .badRequest)
        }
        #expect(transport.requests.count == 1)
    }

    @Test(
        "an answer with another status has no responses and tells its conditions",
        arguments: [403, 409, 412, 507, 200, 404])
    func refused(_ status: Int) async throws {
        let text = "<d:error xmlns:d=\"DAV:\"><d:valid-sync-token/></d:error>"
        let answer = try await report { .status(status, [:], text) }
        #expect(answer.status == status)
        #expect(try await answer.next() == nil)
        #expect(await answer.end?.errors == ["{DAV:}valid-sync-token"])
        let endless = try await report {
            HTTPAnswer(
                status: status, headers: [:],
                body: ScriptedBody(
                    chunks: Array(repeating: Array(repeating: 32, count: 65_536), count: 2), failure: .closed))
        }
        #expect(await endless.end?.errors == [])
    }

    @Test("I13: an answer that ends early, or is another document, throws after what came and says nothing of an end")
    func early() async throws {
        for (text, failure) in [
            (String(Sync.sabre.dropLast(5)), nil), (String(Sync.sabre.dropLast(5)), TransportError.closed),
            (Sync.sabre, .closed),
            ("<html/>", nil), ("", nil),
        ] {
            let answer = try await report { .status(207, [:], text, failure: failure) }
            await #expect(throws: ConnectionError.self) { _ = try await all(answer) }
            #expect(await answer.end == nil)
        }
        let error = await #expect(throws: ConnectionError.self) {
            try await report { .status(207, ["Content-Encoding": "gzip"], "x") }
        }
        #expect(error?.kind == .protocolViolation)
    }

    @Test(
        "D01: redirects within the origin keep PROPFIND, its depth and its body", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            request.address.path == "/a"
                ? .status(status, ["Location": "/b/"]) : .status(207, [:], Document.multistatus(["x"]))
        }
        let answer = try await Connection("https://h/", over: transport).loopRequests.multistatus(
            MultistatusRequest("PROPFIND", "/a", properties: [Sync.etag]))
        #expect(try await all(answer).map(\.href) == ["/b/x"])
        #expect(transport.lines == ["PROPFIND /a", "PROPFIND /b/"])
        #expect(transport.requests[0].body == transport.requests[1].body)
    }
}
