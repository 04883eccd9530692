import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct ListingTests {
    @Test("a listing has the folder itself and what is in it, with all properties")
    func listing() async throws {
        try await TestServer.running { server in
            server.tree.put("/Docs/a b&c.txt", "hello", modified: 784_111_777)
            server.tree.put("/Docs/deep/er/x", "123")
            let client = Client(server)
            let reply = try await client.list("Docs")
            #expect(reply.status == 207)
            #expect(reply.fields["date"] != nil)
            let base = "/remote.php/dav/files/demo/Docs/"
            #expect(reply.body.contents(of: "d:href") == [base, base + "a%20b%26c.txt", base + "deep/"])
            #expect(reply.body.contents(of: "d:getcontentlength") == ["5"])
            #expect(reply.body.contents(of: "oc:size") == ["8", "5", "3"])
            #expect(reply.body.contents(of: "d:getlastmodified")[1] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(reply.body.contents(of: "oc:checksum") == ["SHA1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"])
            #expect(try await client.list("Docs", depth: "0").body.contents(of: "d:href") == [base])
            #expect(
                try await client.list("//remote.php/webdav/").body.contents(of: "d:href").last
                    == "/remote.php/webdav/Docs/")
            #expect(try await client.list("none").status == 404)
            #expect(try await client.list("Docs", depth: "2").status == 400)
        }
    }

    @Test("what was asked for and is not there stands under 404")
    func missingProperties() async throws {
        try await TestServer.running { server in
            let body = #"<x:propfind xmlns:x="DAV:"><x:prop><x:getetag/><x:getcontentlength/></x:prop></x:propfind>"#
            let reply = try await Client(server)("PROPFIND", "", ["Depth: 0"], body: body)
            #expect(reply.body.contents(of: "d:prop").count == 2)
            #expect(reply.body.contents(of: "d:getetag").count == 1)
            #expect(reply.body.contains("<d:getcontentlength/></d:prop><d:status>HTTP/1.1 404 Not Found"))
            #expect(!reply.body.contains("oc:id"))
        }
    }

    @Test("a change below shows in every ETag up to the root, and ids survive moves")
    func propagation() async throws {
        try await TestServer.running { server in
            server.tree.put("/a/b/c.txt", "1")
            server.tree.put("/other/x", "2")
            let client = Client(server)
            func etags() async throws -> [String] {
                var all: [String] = []
                for path in ["", "a", "a/b", "a/b/c.txt", "other"] {
                    all += try await client.list(path, depth: "0").body.contents(of: "d:getetag")
                }
                return all
            }
            let before = try await etags()
            try #require(Set(before).count == 5)
            #expect(try await etags() == before)
            server.tree.put("/a/b/c.txt", "3")
            let after = try await etags()
            try #require(after.count == 5)
            for index in 0..<4 { #expect(after[index] != before[index]) }
            #expect(after[4] == before[4])

            let id = server.tree.id(of: "/a/b")
            let folder = try await client.list("a/b", depth: "0").body.contents(of: "d:getetag")
            #expect(server.tree.move("/a/b", to: "/other/moved"))
            #expect(server.tree.id(of: "/other/moved") == id)
            #expect(try await client.list("other/moved", depth: "0").body.contents(of: "d:getetag") == folder)
            #expect(try await client.list("other", depth: "0").body.contents(of: "d:getetag") != [after[4]])
            #expect(try await client.list("other", depth: "0").body.contents(of: "oc:size") == ["2"])
        }
    }

    @Test("names of any bytes are told apart")
    func names() async throws {
        try await TestServer.running { server in
            let names = ["caf\u{e9}", "cafe\u{301}", "a%41", "a#b", "q?", "semi;colon", "new\nline", "\u{1F30D}"]
            for (index, name) in names.enumerated() { server.tree.put("/\(name)", "\(index)") }
            let client = Client(server)
            let hrefs = try await client.list().body.contents(of: "d:href").dropFirst()
            #expect(hrefs.count == names.count)
            for (index, href) in hrefs.enumerated() {
                #expect(try await client("GET", "/\(href)").body == "\(index)")
            }
        }
    }

    @Test("servers' manners: which ETags there are, how far changes are told, what infinity gives")
    func manners() async throws {
        try await TestServer.running { server in
            server.tree.put("/f/x", "1", modified: 7)
            let client = Client(server)
            func etag(_ path: String) async throws -> String? {
                try await client.list(path, depth: "0").body.contents(of: "d:getetag").first
            }
            server.behave { $0.fileETags = .weak }
            #expect(try await etag("f/x")?.hasPrefix("W/\"") == true)
            server.behave { $0.fileETags = .unquoted }
            #expect(try await etag("f/x")?.contains("\"") == false)
            server.behave { $0.fileETags = .onlyOnGet }
            #expect(try await etag("f/x") == nil)
            #expect(try await client("GET", "f/x").fields["etag"] != nil)
            server.behave { $0.fileETags = .ofSizeAndSecond }
            let same = try await etag("f/x")
            server.tree.put("/f/x", "2", modified: 7)
            #expect(try await etag("f/x") == same)

            let (root, folder) = (try await etag(""), try await etag("f"))
            server.behave { $0.propagation = .none }
            server.tree.put("/f/x", "3")
            #expect(try await etag("f") == folder)
            server.behave { $0.propagation = .toParent }
            server.tree.put("/f/x", "4")
            #expect(try await etag("f") != folder)
            #expect(try await etag("") == root)

            #expect(try await client.list("", depth: "infinity").status == 403)
            server.behave { $0.depthInfinity = .oneLevel }
            #expect(try await client.list("", depth: "infinity").body.contents(of: "d:href").count == 2)
            server.behave { $0.depthInfinity = .granted }
            #expect(try await client.list("", depth: "infinity").body.contents(of: "d:href").count == 3)

            server.behave { $0 = .plain }
            #expect(try await client.list("f").body.contains("oc:id") == false)
            #expect(try await client("GET", "//status.php").status == 404)
        }
    }
}
