import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct PuttingTests {
    @Test("PUT compares If-Match strongly, If-None-Match weakly, and heeds If-Unmodified-Since without If-Match")
    func conditions() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "one", modified: 784_111_777)
            let client = Client(server)
            func status(_ fields: String..., path: String = "a") async throws -> Int {
                try await client("PUT", path, fields, body: "two").status
            }
            let etag = try #require(try await client("HEAD", "a").fields["etag"])
            #expect(try await status("If-Match: W/\(etag)") == 412)
            #expect(try await status("If-Match: \"x\", \"y\"") == 412)
            #expect(try await status("If-None-Match: W/\(etag)") == 412)
            #expect(try await status("If-None-Match: *") == 412)
            #expect(try await status("If-Match: *", path: "none") == 412)
            #expect(try await status("If-Match: \(etag)", path: "none") == 412)
            #expect(try await status("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT") == 412)
            #expect(server.tree.bytes(of: "/a") == Array("one".utf8) && !server.tree.exists("/none"))
            #expect(
                try await status("If-Match: \"x\" , \(etag)", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT")
                    == 204)
            #expect(try await status("If-Match: \(etag)") == 412)
            #expect(try await status("If-Match: *") == 204)
            #expect(try await status("If-Unmodified-Since: Fri, 31 Dec 9999 23:59:59 GMT") == 204)
            #expect(try await status("If-None-Match: \"other\"") == 204)
            #expect(try await status("If-None-Match: *", path: "new") == 201)
            server.behave { $0.fileETags = .weak }
            let weak = try #require(try await client("HEAD", "a").fields["etag"])
            #expect(try await status("If-Match: \(weak)") == 412)
        }
    }

    @Test("the answer to PUT has the ETag and the id that a listing then has")
    func answers() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            for status in [201, 204] {
                let put = try await client("PUT", "a", body: "text \(status)")
                let listed = try await client.list("a", depth: "0").body
                #expect(put.status == status)
                #expect(put.fields["etag"] == listed.contents(of: "d:getetag").first)
                #expect(put.fields["oc-etag"] == put.fields["etag"])
                #expect(put.fields["oc-fileid"] == listed.contents(of: "oc:id").first)
                #expect(put.fields["x-oc-mtime"] == nil)
            }
            let dated = try await client("PUT", "a", ["X-OC-Mtime: 784111777.9"], body: "x")
            #expect(dated.fields["x-oc-mtime"] == "accepted")
            #expect(try await client("HEAD", "a").fields["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(try await client("PUT", "a", ["X-OC-Mtime: yesterday"], body: "y").status == 400)
            #expect(server.tree.bytes(of: "/a") == Array("x".utf8))
        }
    }

    @Test(
        "a body is refused unless it has the checksum that the client gives, which the server keeps",
        arguments: ["SHA1", "MD5", "ADLER32", "SHA256"])
    func checksums(_ kind: String) async throws {
        // The values are those of the tools sha1sum, md5sum and sha256sum, and of Python's zlib.adler32.
        let right = [
            "SHA1": "f7ff9e8b7bb2e09b70935a5d785e0cc5d9d0abf0", "MD5": "8b1a9953c4611296a827abf8c47804d7",
            "ADLER32": "058c01f5",
            "SHA256": "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969",
        ]
        let sum = try #require(right[kind])
        try await TestServer.running { server async throws in
            let client = Client(server)
            let refused = try await client(
                "PUT", "a", ["OC-Checksum: \(kind):\(String(sum.reversed()))"], body: "Hello")
            #expect(refused.status == 400 && !server.tree.exists("/a"))
            #expect(refused.body.contents(of: "s:exception") == [#"Sabre\DAV\Exception\BadRequest"#])
            #expect(refused.body.contents(of: "s:message").first?.contains("checksum does not match") == true)
            let taken = try await client("PUT", "a", ["OC-Checksum: \(kind):\(sum.uppercased())"], body: "Hello")
            #expect(taken.status == 201)
            let listed = try await client.list("a", depth: "0").body.contents(of: "oc:checksum")
            #expect(listed == ["SHA1:\(right["SHA1"] ?? "")" + (kind == "SHA1" ? "" : " \(kind):\(sum)")])
            #expect(try await client("PUT", "b", ["OC-Checksum: CRC9:1"], body: "x").status == 400)
            #expect(server.tree.paths == ["/a"])
        }
    }

    @Test("PUT into no folder, into a file, onto a folder, or with a Content-Range writes nothing")
    func refusals() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/x", "x")
            let client = Client(server)
            #expect(try await client("PUT", "none/x", ["If-Match: *"], body: "y").status == 409)
            #expect(try await client("PUT", "f/x/y", body: "y").status == 409)
            #expect(try await client("PUT", "f", body: "y").status == 409)
            #expect(try await client("PUT", "f/x", ["Content-Range: bytes 0-0/1"], body: "y").status == 400)
            #expect(server.tree.paths == ["/f/", "/f/x"] && server.tree.bytes(of: "/f/x") == Array("x".utf8))
        }
    }

    @Test("what does not fit into the quota is refused, before and after its size is known; without quota all fits")
    func quota() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a", "12345")
            let client = Client(server)
            func quota() async throws -> String {
                let body = #"""
                    <d:propfind xmlns:d="DAV:"><d:prop><d:quota-used-bytes/><d:quota-available-bytes/></d:prop>
                    </d:propfind>
                    """#
                let reply = try await client("PROPFIND", "", ["Depth: 0"], body: body).body
                return (reply.contents(of: "d:quota-used-bytes") + reply.contents(of: "d:quota-available-bytes"))
                    .joined(separator: " ")
            }
            #expect(try await quota() == "5 -3")
            server.quota = 10
            #expect(try await quota() == "5 5")
            #expect(try await client("PUT", "b", body: "123456").status == 507)
            #expect(try await client("PUT", "b", ["Transfer-Encoding: chunked"], body: "123456").status == 507)
            #expect(try await client("COPY", "a", ["Destination: \(server.folderURL)b"]).status == 201)
            #expect(try await client("COPY", "a", ["Destination: \(server.folderURL)c"]).status == 507)
            #expect(try await quota() == "10 0")
            #expect(try await client("PUT", "a", body: "54321").status == 204)
            #expect(try await client("PUT", "a", body: "543210").status == 507)
            #expect(try await client("PUT", "a", body: "5").status == 204)
            let user = try await client("GET", "//ocs/v1.php/cloud/user?format=json", ["OCS-APIRequest: true"])
            #expect(user.body.contains(#""quota":{"free":4,"used":6,"total":10"#))
            #expect(!(try await client.list().body.contains("quota")))
        }
    }
}
