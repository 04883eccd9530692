import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct PatchingTests {
    private func update(_ content: String) -> String {
        #"<d:propertyupdate xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:n="u:n">"#
            + "\(content)</d:propertyupdate>"
    }

    private func set(_ content: String) -> String { "<d:set><d:prop>\(content)</d:prop></d:set>" }

    @Test("favorites and times are set and listed; a new time is a new ETag, a favorite is not")
    func live() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "x")
            let client = Client(server)
            func listed(_ element: String) async throws -> String? {
                try await client.list("a", depth: "0").body.contents(of: element).first
            }
            let etag = try await listed("d:getetag")
            let reply = try await client("PROPPATCH", "a", body: update(set("<oc:favorite>1</oc:favorite>")))
            #expect(reply.status == 207 && reply.body.contents(of: "d:status") == ["HTTP/1.1 200 OK"])
            #expect(try await listed("oc:favorite") == "1")
            #expect(server.tree.isFavorite("/a"))
            #expect(try await listed("d:getetag") == etag)
            let removal = "<d:remove><d:prop><oc:favorite/></d:prop></d:remove>"
            #expect(try await client("PROPPATCH", "a", body: update(removal)).status == 207)
            #expect(try await listed("oc:favorite") == "0")
            for (name, value) in [("lastmodified", "784111777"), ("getlastmodified", "Sun, 06 Nov 1994 08:49:38 GMT")] {
                let body = update(set("<d:\(name)>\(value)</d:\(name)>"))
                #expect(try await client("PROPPATCH", "a", body: body).body.contains("200 OK"))
                #expect(try await listed("d:getlastmodified")?.hasPrefix("Sun, 06 Nov 1994 08:49:3") == true)
            }
            #expect(try await listed("d:getlastmodified") == "Sun, 06 Nov 1994 08:49:38 GMT")
            #expect(try await listed("d:getetag") != etag)
        }
    }

    @Test("properties that the server does not know are kept with their content, listed when asked for, and removed")
    func dead() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "x")
            let client = Client(server)
            func ask() async throws -> String {
                let body = #"<d:propfind xmlns:d="DAV:"><d:prop><d:getetag/><n xmlns="u:n"/></d:prop></d:propfind>"#
                return try await client("PROPFIND", "a", ["Depth: 0"], body: body).body
            }
            #expect(try await ask().contains(#"<x:n xmlns:x="u:n"/></d:prop><d:status>HTTP/1.1 404"#))
            let value = set(#"<n:n>a &lt; b<n:in at="1">c</n:in></n:n>"#)
            #expect(try await client("PROPPATCH", "a", body: update(value)).status == 207)
            let kept = #"<x:n xmlns:x="u:n">a &lt; b<x:in xmlns:x="u:n" at="1">c</x:in></x:n></d:prop>"#
            #expect(try await ask().contains(kept))
            #expect(try await client.list("a", depth: "0").body.contains(kept))
            #expect(try await client("PUT", "a", body: "y").status == 204)
            #expect(try await ask().contains(kept))
            let removal = "<d:remove><d:prop><n:n/></d:prop></d:remove>"
            #expect(try await client("PROPPATCH", "a", body: update(removal)).status == 207)
            #expect(try await !ask().contains(kept))
        }
    }

    @Test("an update of which one part is refused changes nothing, and says which part it was")
    func atomic() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "x", modified: 7)
            let client = Client(server)
            let content = set(
                "<oc:favorite>1</oc:favorite><d:getetag>\"x\"</d:getetag><d:lastmodified>soon</d:lastmodified>")
            let reply = try await client("PROPPATCH", "a", body: update(content))
            #expect(reply.status == 207)
            #expect(
                reply.body.contents(of: "d:status") == [
                    "HTTP/1.1 424 Failed Dependency", "HTTP/1.1 403 Forbidden", "HTTP/1.1 409 Conflict",
                ])
            #expect(reply.body.contains("<d:cannot-modify-protected-property/>"))
            #expect(!server.tree.isFavorite("/a"))
            #expect(try await client("PROPPATCH", "none", body: update(content)).status == 404)
            #expect(try await client("PROPPATCH", "a", body: "no XML").status == 400)
            server.tree.permit("/a", "SR")
            let time = update(set("<d:lastmodified>9</d:lastmodified>"))
            #expect(try await client("PROPPATCH", "a", body: time).body.contains("403 Forbidden"))
            #expect(try await client("HEAD", "a").fields["last-modified"]?.contains("00:00:07") == true)
        }
    }
}
