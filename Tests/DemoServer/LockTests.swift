import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct LockTests {
    private let info = #"""
        <d:lockinfo xmlns:d="DAV:"><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype>\#
        <d:owner><d:href>mailto:ada@example.org</d:href></d:owner></d:lockinfo>
        """#

    private func lock(_ client: Client, _ path: String, _ fields: String...) async throws -> String {
        let reply = try await client("LOCK", path, fields, body: info)
        #expect([200, 201].contains(reply.status))
        #expect(reply.body.contains("<d:owner><d:href>mailto:ada@example.org</d:href></d:owner>"))
        return try #require(reply.fields["lock-token"])
    }

    @Test("a locked file is written only with the lock's token; the refusal names the lock's owner")
    func file() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "x")
            let client = Client(server)
            let token = try await lock(client, "a")
            let to = "Destination: \(server.folderURL)b"
            let patch = #"<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><x/></d:prop></d:set></d:propertyupdate>"#
            for method in ["PUT", "DELETE", "MOVE", "PROPPATCH"] {
                let refused = try await client(method, "a", [to], body: method == "PROPPATCH" ? patch : nil)
                #expect(refused.status == 423, "\(method)")
                #expect(refused.body.contains("<d:lock-token-submitted><d:href>/remote.php/dav/files/demo/a</d:href>"))
                #expect(refused.body.contents(of: "s:message") == ["/a is locked by mailto:ada@example.org"])
                #expect(refused.body.contents(of: "d:owner") == ["<d:href>mailto:ada@example.org</d:href>"])
            }
            #expect(try await client("LOCK", "a", body: info).status == 423)
            #expect(try await client("GET", "a").status == 200)
            #expect(try await client("COPY", "a", [to]).status == 201)
            #expect(try await client("MOVE", "b", ["Destination: \(server.folderURL)a"]).status == 423)
            #expect(try await client("PUT", "a", ["If: (\(token))"], body: "y").status == 204)
            #expect(try await client("UNLOCK", "a", ["Lock-Token: <opaquelocktoken:other>"]).status == 409)
            #expect(try await client("UNLOCK", "a", ["Lock-Token: \(token)"]).status == 204)
            #expect(try await client("PUT", "a", body: "z").status == 204)
        }
    }

    @Test("a deep lock covers what is below, a flat one the folder's names; a move or removal ends the lock")
    func folders() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/g/x", "x")
            let client = Client(server)
            let deep = try await lock(client, "f", "Depth: infinity")
            #expect(try await client("PUT", "f/g/x", body: "y").status == 423)
            #expect(try await client("LOCK", "f/g", body: info).status == 423)
            #expect(try await client("PUT", "f/g/x", ["If: <\(server.folderURL)f> (\(deep))"], body: "y").status == 204)
            #expect(try await client("UNLOCK", "f", ["Lock-Token: \(deep)"]).status == 204)

            let flat = try await lock(client, "f", "Depth: 0")
            #expect(try await client("PUT", "f/g/x", body: "z").status == 204)
            #expect(try await client("MKCOL", "f/new").status == 423)
            #expect(try await client("DELETE", "f/g").status == 423)
            #expect(try await client("MKCOL", "f/new", ["If: <\(server.folderURL)f> (\(flat))"]).status == 201)
            #expect(try await client("UNLOCK", "f", ["Lock-Token: \(flat)"]).status == 204)

            let inner = try await lock(client, "f/g/x")
            #expect(try await client("DELETE", "f").status == 423)
            let moved = try await client(
                "MOVE", "f", ["Destination: \(server.folderURL)h", "If: <\(server.folderURL)f/g/x> (\(inner))"])
            #expect(moved.status == 201 && !server.isLocked("/h/g/x") && !server.isLocked("/f/g/x"))
        }
    }

    @Test("a lock ends with its time unless it is renewed, and is listed until then")
    func time() async throws {
        let clock = SecondsClock()
        try await TestServer.running(clock.configuration) { server async throws in
            server.tree.put("/a", "x")
            let client = Client(server)
            func listed() async throws -> String {
                let body =
                    #"<d:propfind xmlns:d="DAV:"><d:prop><d:lockdiscovery/><d:supportedlock/></d:prop></d:propfind>"#
                return try await client("PROPFIND", "a", ["Depth: 0"], body: body).body
            }
            let token = try await lock(client, "a", "Timeout: Infinite, Second-100")
            #expect(try await listed().contents(of: "d:timeout") == ["Second-86400"])
            let renewed = try await client("LOCK", "a", ["If: (\(token))", "Timeout: Second-100"])
            #expect(renewed.status == 200 && renewed.body.contents(of: "d:timeout") == ["Second-100"])
            clock.advance(60)
            let list = try await listed()
            #expect(list.contents(of: "d:timeout") == ["Second-40"] && list.contains("<d:lockentry>"))
            #expect(list.contents(of: "d:locktoken") == ["<d:href>\(token.dropFirst().dropLast())</d:href>"])
            clock.advance(39)
            #expect(try await client("PUT", "a", body: "y").status == 423)
            clock.advance(1)
            #expect(try await client("PUT", "a", ["If: (\(token))"], body: "y").status == 412)
            #expect(try await client("LOCK", "a", ["If: (\(token))"]).status == 412)
            #expect(try await client("PUT", "a", body: "y").status == 204)
            #expect(try await !listed().contains("<d:activelock>"))
        }
    }

    @Test("a lock of a name without a file makes an empty file; locks of other kinds are refused")
    func kinds() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            #expect(try await client("LOCK", "new", body: info).status == 201)
            #expect(server.tree.bytes(of: "/new") == [])
            #expect(try await client("LOCK", "none/new", body: info).status == 409)
            let shared = info.split(separator: "exclusive").joined(separator: "shared")
            #expect(try await client("LOCK", "other", body: shared).status == 403)
            #expect(try await client("LOCK", "other", ["Depth: 1"], body: info).status == 400)
            #expect(server.tree.paths == ["/new"])
        }
    }

    @Test("the If field's lists are met by tokens and ETags, with Not and for other items, and 412 otherwise")
    func conditions() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "x")
            let token = "<\(server.lock("/a", owner: "grace"))>"
            server.tree.put("/b", "x")
            let client = Client(server)
            let etag = try #require(try await client("HEAD", "b").fields["etag"])
            func put(_ field: String) async throws -> Int {
                let reply = try await client("MKCOL", "n", ["If: \(field)"])
                if reply.status == 201 { server.tree.remove("/n") }
                return reply.status
            }
            let b = "<\(server.folderURL)b>"
            #expect(try await put("\(b) ([\(etag)])") == 201)
            #expect(try await put("\(b) ([\"other\"])") == 412)
            #expect(try await put("\(b) ([W/\(etag)])") == 412)
            #expect(try await put("\(b) (Not [\"other\"])") == 201)
            #expect(try await put("\(b) ([\(etag)] \(token))") == 412)
            #expect(try await put("\(b) ([\"other\"]) ([\(etag)])") == 201)
            #expect(try await put("<\(server.folderURL)a> (\(token))") == 201)
            #expect(try await put("(\(token))") == 412)
            #expect(try await put("(Not <DAV:no-lock>)") == 201)
            #expect(try await put("()") == 400)
            #expect(try await put("(\(token)") == 400)
            #expect(server.unlock("/a", String(token.dropFirst().dropLast())))
            #expect(try await client("PUT", "a", body: "y").status == 204)
        }
    }
}
