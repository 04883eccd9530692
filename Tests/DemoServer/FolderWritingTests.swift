import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct FolderWritingTests {
    private func etags(_ client: Client, _ paths: String...) async throws -> [String] {
        var all: [String] = []
        for path in paths { all += try await client.list(path, depth: "0").body.contents(of: "d:getetag") }
        return all
    }

    @Test("a change of an item changes the ETags of the folders above it, and of no others")
    func propagation() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a/b/x", "x")
            server.tree.put("/other/y", "y")
            let client = Client(server)
            let to = "Destination: \(server.folderURL)a/b/"
            let requests: [(method: String, path: String, fields: [String])] = [
                ("PUT", "a/b/x", []), ("MKCOL", "a/b/new", []), ("COPY", "a/b/x", [to + "copy"]),
                ("MOVE", "a/b/copy", [to + "moved"]), ("DELETE", "a/b/moved", []),
            ]
            for request in requests {
                let before = try await etags(client, "", "a", "a/b", "other")
                let reply = try await client(request.method, request.path, request.fields)
                #expect((200..<300).contains(reply.status), "\(request)")
                let after = try await etags(client, "", "a", "a/b", "other")
                try #require(before.count == 4 && after.count == 4)
                let isSame = zip(before, after).map { $0 == $1 }
                #expect(isSame == [false, false, false, true], "\(request)")
            }
        }
    }

    @Test("DELETE, MOVE and COPY heed the conditions of their source")
    func conditions() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/x", "x")
            let client = Client(server)
            let etag = try #require(try await etags(client, "f").first)
            let to = "Destination: \(server.folderURL)to"
            for method in ["DELETE", "MOVE", "COPY"] {
                #expect(try await client(method, "f", [to, "If-Match: \"other\""]).status == 412)
                #expect(try await client(method, "none", [to, "If-Match: \"other\""]).status == 404)
            }
            #expect(server.tree.paths == ["/f/", "/f/x"])
            #expect(try await client("COPY", "f", [to, "If-Match: \(etag)"]).status == 201)
            #expect(try await client("MOVE", "f", [to, "If-Match: \(etag)"]).status == 204)
            #expect(try await client("DELETE", "to", ["If-Match: \(etag)"]).status == 204)
            #expect(try await client("DELETE", "").status == 403)
        }
    }

    @Test("a move keeps the ids and the ETag of what it moves; a copy is new and keeps times and properties")
    func ids() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/x", "x", modified: 7)
            server.tree.put("/there/y", "y")
            let client = Client(server)
            let ids = [server.tree.id(of: "/f"), server.tree.id(of: "/f/x")]
            let etag = try await etags(client, "f/x")
            let patch = #"""
                <d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><n:n xmlns:n="u:n">v</n:n></d:prop></d:set>
                </d:propertyupdate>
                """#
            #expect(try await client("PROPPATCH", "f/x", body: patch).status == 207)
            let to = "Destination: \(server.folderURL)"
            let moved = try await client("MOVE", "f", [to + "there", "Overwrite: T"])
            #expect(moved.status == 204 && moved.fields["oc-fileid"] == ids[0])
            #expect([server.tree.id(of: "/there"), server.tree.id(of: "/there/x")] == ids)
            #expect(try await etags(client, "there/x") == etag)
            #expect(!server.tree.exists("/there/y"))
            let copied = try await client("COPY", "there/x", [to + "copy"])
            #expect(copied.status == 201 && copied.fields["oc-fileid"] != ids[1])
            let listed = try await client.list("copy", depth: "0").body
            #expect(listed.contains("1970 00:00:07 GMT") && listed.contains(#"<x:n xmlns:x="u:n">v</x:n>"#))
        }
    }

    @Test("a copy is as deep as Depth says, a move always whole; other depths and doubtful requests are refused")
    func depths() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/x", "x")
            let client = Client(server)
            let to = "Destination: \(server.folderURL)"
            #expect(try await client("COPY", "f", [to + "flat", "Depth: 0"]).status == 201)
            #expect(server.tree.paths == ["/f/", "/f/x", "/flat/"])
            #expect(try await client("COPY", "f", [to + "g", "Depth: 1"]).status == 400)
            #expect(try await client("MOVE", "f", [to + "g", "Depth: 0"]).status == 400)
            #expect(try await client("MOVE", "f/x", [to + "y", "Depth: 0"]).status == 201)
            #expect(try await client("MOVE", "f", []).status == 400)
            #expect(try await client("MOVE", "f", ["Destination: \(server.url)/elsewhere"]).status == 403)
            #expect(try await client("MOVE", "f", [to + "g", "Overwrite: maybe"]).status == 400)
            #expect(try await client("MOVE", "f", [to + "f"]).status == 403)
            #expect(try await client("COPY", "f", [to + "f/in"]).status == 403)
            #expect(try await client("COPY", "f", [to + "flat", "Overwrite: F"]).status == 412)
            #expect(try await client("MKCOL", "h", body: "<x/>").status == 415)
            #expect(server.tree.paths == ["/f/", "/flat/", "/y"])
        }
    }

    @Test("the letters of oc:permissions are listed, and what they lack is refused with 403")
    func permissions() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/ro/x", "x")
            server.tree.put("/mine", "m")
            let client = Client(server)
            #expect(try await client.list("ro").body.contents(of: "oc:permissions") == ["RDNVCK", "RDNVW"])
            server.tree.permit("/ro", "SR")
            server.tree.permit("/ro/x", "SRN")
            #expect(try await client.list("ro").body.contents(of: "oc:permissions") == ["SR", "SRN"])
            let to = "Destination: \(server.folderURL)"
            let requests: [(method: String, path: String, field: String)] = [
                ("PUT", "ro/x", "A: b"), ("PUT", "ro/new", "A: b"), ("MKCOL", "ro/new", "A: b"),
                ("DELETE", "ro/x", "A: b"), ("DELETE", "ro", "A: b"), ("MOVE", "ro/x", to + "x"),
                ("MOVE", "mine", to + "ro/mine"), ("COPY", "mine", to + "ro/mine"), ("MOVE", "mine", to + "ro/x"),
                ("MOVE", "ro", to + "rw"),
            ]
            for request in requests {
                let reply = try await client(request.method, request.path, [request.field])
                #expect(reply.status == 403, "\(request)")
                #expect(reply.body.contents(of: "s:exception") == [#"Sabre\DAV\Exception\Forbidden"#])
            }
            #expect(server.tree.paths == ["/mine", "/ro/", "/ro/x"])
            #expect(try await client("MOVE", "ro/x", [to + "ro/y"]).status == 201)
            server.tree.permit("/ro", "SRC")
            #expect(try await client("PUT", "ro/new", body: "n").status == 201)
            #expect(try await client("MKCOL", "ro/folder").status == 403)
            server.tree.permit("/ro", nil)
            #expect(try await client("DELETE", "ro").status == 204)
        }
    }
}
