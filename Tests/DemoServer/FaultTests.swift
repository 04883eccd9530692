import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct FaultTests {
    @Test("a fault is for the method, the path and the requests that it names")
    func scope() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a/x", "x")
            server.tree.put("/ab", "y")
            let client = Client(server)
            let fault = server.add(
                Fault(.status(503, retryAfter: 7), method: "GET", path: "/a", below: true, from: 2, times: 2))
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await client("GET", "a/x").status) }
            #expect(statuses == [200, 503, 503, 200])
            #expect(try await client.list("a").status == 207)
            server.remove(fault)
            server.add(Fault(.status(429, retryAfter: 3), path: "/a/x"))
            let refused = try await client("GET", "a/x")
            #expect(refused.status == 429 && refused.fields["retry-after"] == "3")
            #expect(try await client("GET", "ab").status == 200)
            server.removeFaults()
            #expect(try await client("GET", "a/x").status == 200)
        }
    }

    @Test("bodies are cut off, too short, too long, or not what the checksum says")
    func bodies() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/n", "0123456789")
            let client = Client(server)
            func reply(_ kind: Fault.Kind) async throws -> Client.Reply {
                server.removeFaults()
                server.add(Fault(kind, method: "GET"))
                return try await client("GET", "n")
            }
            let cut = try await reply(.cutOff(afterBytes: 4))
            #expect(cut.exitCode == 18 && cut.body == "0123" && cut.fields["content-length"] == "10")
            #expect(server.requests.last?.bytes == 4)
            let short = try await reply(.wrongLength(by: -3))
            #expect(short.exitCode == 0 && short.body == "0123456" && short.fields["content-length"] == "7")
            #expect(try await reply(.wrongLength(by: 2)).fields["content-length"] == "12")
            let checksum = try await reply(.wrongChecksum).fields["oc-checksum"]
            server.removeFaults()
            let right = try await client("GET", "n").fields["oc-checksum"]
            #expect(checksum != right && checksum?.count == right?.count)
            server.behave { $0.contentLength = false }
            let open = try await client("GET", "n")
            #expect(open.fields["content-length"] == nil && open.fields["transfer-encoding"] == "chunked")
            server.add(Fault(.cutOff(afterBytes: 4), method: "GET"))
            #expect(try await client("GET", "n").exitCode == 18)
        }
    }

    @Test("listings are pages, truncated, empty, or have entries that no tree could hold")
    func listings() async throws {
        try await TestServer.running { server async throws in
            for index in 0..<10 { server.tree.put("/f\(index)", "x") }
            let client = Client(server)
            func reply(_ kind: Fault.Kind) async throws -> Client.Reply {
                server.removeFaults()
                server.add(Fault(kind, method: "PROPFIND"))
                return try await client.list()
            }
            let page = try await reply(.page)
            #expect(page.status == 200 && page.fields["content-type"]?.hasPrefix("text/html") == true)
            let truncated = try await reply(.truncatedListing)
            #expect(truncated.exitCode == 0 && truncated.status == 207 && truncated.body.hasSuffix("<d:hr"))
            let empty = try await reply(.emptyListing)
            #expect(empty.status == 207 && empty.body.contents(of: "d:href").isEmpty)
            #expect(empty.body.hasSuffix("</d:multistatus>\n"))
            let foreign = try await reply(.foreignEntries([Array("..%2Fout".utf8), Array("%FF".utf8)]))
            #expect(foreign.body.contents(of: "d:href").contains("/remote.php/dav/files/demo/..%2Fout"))
            #expect(foreign.body.contents(of: "d:href").count == 13)
            let redirect = try await reply(.redirect(to: "http://127.0.0.2:1/x"))
            #expect(redirect.status == 307 && redirect.fields["location"] == "http://127.0.0.2:1/x")
        }
    }

    @Test("a file gets another version between its listing and its reading")
    func changedBeforeReading() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/n", "x")
            let client = Client(server)
            let etag = try #require(try await client.list("n", depth: "0").body.contents(of: "d:getetag").first)
            server.add(Fault(.changedBeforeReading, method: "GET", times: 1))
            #expect(try await client("GET", "n", ["If-Match: \(etag)"]).status == 412)
            #expect(try await client.list("n", depth: "0").body.contents(of: "d:getetag").first != etag)
        }
    }

    @Test("a request is held up until its fault is removed, before the answer or within it", arguments: [nil, 4])
    func hold(after bytes: Int?) async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/n", "0123456789")
            let fault = server.add(Fault(.hold(afterBytes: bytes), method: "GET"))
            let client = Client(server)
            async let reply = client("GET", "n")
            await server.untilHeld(fault)
            #expect(server.requests.isEmpty)
            server.remove(fault)
            #expect(try await reply.body == "0123456789")
        }
    }

    @Test("a server that holds requests up can be stopped", .timeLimit(.minutes(5)))
    func stopWhileHeld() async throws {
        let server = try await TestServer.start()
        let fault = server.add(Fault(.hold(), path: "/status.php"))
        async let reply = Client(server)("GET", "//status.php")
        await server.untilHeld(fault)
        await server.stop()
        _ = try await reply
        // A child process of another test may have inherited the socket and keeps it until the process ends.
        await until { !LoopbackPort.isOpen(UInt16(server.port)) }
    }
}
