import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct WriteFaultTests {
    @Test("an answer is lost before the request is executed, or after", arguments: [false, true])
    func lostAnswer(executed: Bool) async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/gone", "x")
            let client = Client(server)
            server.add(Fault(.lostAnswer(executed: executed)))
            for (method, path) in [("PUT", "a"), ("MKCOL", "f"), ("DELETE", "gone")] {
                let reply = try await client(method, path)
                #expect(reply.exitCode != 0 && reply.status == 0)
            }
            #expect(server.tree.paths == (executed ? ["/a", "/f/"] : ["/gone"]))
            #expect(server.requests.map(\.status) == [0, 0, 0])
            #expect(server.count("PUT", "/a") == 1 && server.count("PUT") == 1 && server.count() == 3)
            server.removeFaults()
            #expect(try await client("PUT", "a", body: "x").status == (executed ? 204 : 201))
        }
    }

    @Test("a connection that breaks within the request's body leaves nothing written")
    func cutRequest() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "old")
            let client = Client(server)
            for bytes in [0, 4, 10, 100] {
                server.removeFaults()
                server.add(Fault(.cutRequest(afterBytes: bytes), method: "PUT"))
                let reply = try await client("PUT", "a", body: "0123456789")
                #expect(reply.exitCode != 0 && reply.status == 0)
            }
            #expect(server.tree.bytes(of: "/a") == Array("old".utf8))
            #expect(server.requests.count == 4)
        }
    }

    @Test("a server that reads a body slowly waits with it until the fault is removed")
    func holdRequest() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            let fault = server.add(Fault(.holdRequest(afterBytes: 4), method: "PUT"))
            async let reply = client("PUT", "a", body: "0123456789")
            await server.untilHeld(fault)
            #expect(!server.tree.exists("/a") && server.requests.isEmpty)
            server.remove(fault)
            #expect(try await reply.status == 201)
            #expect(server.tree.bytes(of: "/a") == Array("0123456789".utf8))
        }
    }

    @Test("a status stands in place of an answer, with a body, a Retry-After, or after the request was executed")
    func statuses() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            let xml = "<d:error xmlns:d=\"DAV:\"/>"
            server.add(Fault(.status(503, retryAfter: 9, xml: xml), method: "PUT", path: "/a", times: 1))
            let refused = try await client("PUT", "a", body: "x")
            #expect(refused.status == 503 && refused.fields["retry-after"] == "9" && refused.body == xml)
            #expect(refused.fields["content-type"] == "application/xml; charset=utf-8")
            #expect(!server.tree.exists("/a"))
            server.add(Fault(.statusAfterwards(504), method: "PUT", times: 1))
            let late = try await client("PUT", "a", body: "x")
            #expect(late.status == 504 && late.fields["etag"] == nil && server.tree.exists("/a"))
            #expect(try await client("PUT", "a", body: "y").status == 204)
            server.behave { $0.largestBody = 3 }
            #expect(try await client("PUT", "a", body: "long").status == 413)
            #expect(try await client("PUT", "a", body: "abc").status == 204)
        }
    }

    @Test("servers' manners in writing: no ETag in the answer, a weak one in the first second, unheeded conditions")
    func manners() async throws {
        let clock = SecondsClock()
        try await TestServer.running(clock.configuration) { server async throws in
            let client = Client(server)
            server.behave { $0.fileETags = .weakInFirstSecond }
            let weak = try #require(try await client("PUT", "a", body: "x").fields["etag"])
            #expect(weak.hasPrefix("W/\""))
            #expect(try await client("PUT", "a", ["If-Match: \(weak)"], body: "y").status == 412)
            clock.advance(1)
            let strong = String(weak.dropFirst(2))
            #expect(try await client("HEAD", "a").fields["etag"] == strong)
            #expect(try await client("PUT", "a", ["If-Match: \(strong)"], body: "y").status == 204)

            server.behave { $0 = .init() }
            server.behave { $0.etagsOnPut = false }
            let put = try await client("PUT", "a", body: "z")
            #expect(put.status == 204 && put.fields["etag"] == nil && put.fields["oc-etag"] == nil)
            #expect(put.fields["oc-fileid"] != nil)
            #expect(try await client("HEAD", "a").fields["etag"] != nil)

            server.behave { $0.conditions = false }
            #expect(try await client("PUT", "a", ["If-Match: \"other\""], body: "1").status == 204)
            #expect(try await client("PUT", "a", ["If-None-Match: *"], body: "2").status == 204)
            #expect(try await client("DELETE", "a", ["If-Match: \"other\""]).status == 204)

            server.behave { $0 = .plain }
            let plain = try await client("PUT", "a", body: "x")
            #expect(plain.fields["etag"] != nil && plain.fields["oc-etag"] == nil && plain.fields["oc-fileid"] == nil)
            #expect(try await client("OPTIONS", "").fields["tus-resumable"] == nil)
        }
    }
}
