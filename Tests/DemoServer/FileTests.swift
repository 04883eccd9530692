import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct FileTests {
    @Test("GET heeds Range, If-Range, If-Match and If-None-Match")
    func reading() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/n", "0123456789")
            let client = Client(server)
            let whole = try await client("GET", "n")
            let etag = try #require(whole.fields["etag"])
            #expect(whole.body == "0123456789")
            #expect(whole.fields["content-length"] == "10")
            #expect(whole.fields["oc-checksum"] == "SHA1:87acec17cd9dcd20a716cc2cf67417b71c8a7016")
            let head = try await client("HEAD", "n")
            #expect(head.status == 200 && head.fields["content-length"] == "10" && head.body.isEmpty)

            let part = try await client("GET", "n", ["Range: bytes=3-5", "If-Range: \(etag)"])
            #expect(part.status == 206 && part.body == "345" && part.fields["content-range"] == "bytes 3-5/10")
            #expect(try await client("GET", "n", ["Range: bytes=7-"]).body == "789")
            #expect(try await client("GET", "n", ["Range: bytes=-2"]).body == "89")
            #expect(try await client("GET", "n", ["Range: bytes=10-"]).status == 416)
            #expect(try await client("GET", "n", ["Range: bytes=3-5", "If-Range: \"other\""]).status == 200)
            #expect(try await client("GET", "n", ["If-Match: \"other\""]).status == 412)
            #expect(try await client("GET", "n", ["If-Match: \(etag)"]).status == 200)
            #expect(try await client("GET", "n", ["If-None-Match: W/\(etag)"]).status == 304)
            #expect(try await client("GET", "none").status == 404)
            #expect(server.requests.last == .init(method: "GET", path: "/none", status: 404, range: nil, bytes: 0))
            #expect(server.requests.contains { $0.range == "bytes=3-5" && $0.bytes == 3 && $0.status == 206 })
        }
    }

    @Test("PUT writes what the conditions allow, of any size")
    func writing() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.scratchFolder = folder
            try await TestServer.running(configuration) { server in
                let client = Client(server)
                #expect(try await client("PUT", "a", body: "one").status == 201)
                #expect(try await client("PUT", "a", ["If-None-Match: *"], body: "two").status == 412)
                #expect(try await client("PUT", "a", ["If-Match: \"other\""], body: "two").status == 412)
                let id = server.tree.id(of: "/a")
                let changed = try await client("PUT", "a", ["X-OC-Mtime: 1000000000"], body: "three")
                #expect(changed.status == 204 && changed.fields["etag"] != nil)
                #expect(server.tree.bytes(of: "/a") == Array("three".utf8))
                #expect(server.tree.id(of: "/a") == id)
                #expect(try await client("GET", "a").fields["last-modified"] == "Sun, 09 Sep 2001 01:46:40 GMT")
                #expect(try await client("PUT", "no/parent", body: "x").status == 409)

                let large = String(repeating: "0123456789abcdef", count: 200_000)
                try Files.write(large, to: "\(folder)/large")
                #expect(try await client("PUT", "large", more: ["-T", "\(folder)/large"]).status == 201)
                let back = try await client("GET", "large")
                #expect(back.body == large)
                let sum = try await mustRun("sha1sum", ["\(folder)/large"]).prefix(40)
                #expect(back.fields["oc-checksum"] == "SHA1:\(sum)")
                #expect(try await client("GET", "large", ["Range: bytes=3199990-"]).body == "6789abcdef")
                #expect(try Files.countOpen(below: folder) == 1)
                #expect(server.tree.remove("/large"))
                await until { (try? Files.countOpen(below: folder)) == 0 }
                #expect(try Files.names(in: folder) == ["large"])
            }
        }
    }

    @Test("MKCOL, MOVE, COPY and DELETE do what WebDAV says")
    func folders() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            #expect(try await client("MKCOL", "new").status == 201)
            #expect(try await client("MKCOL", "new/").status == 405)
            #expect(try await client("MKCOL", "no/parent").status == 409)
            server.tree.put("/new/sub/x", "x")
            server.tree.put("/y", "y")
            let to = "Destination: \(server.folderURL)"
            #expect(try await client("COPY", "new", [to + "copy"]).status == 201)
            #expect(server.tree.id(of: "/copy/sub/x") != server.tree.id(of: "/new/sub/x"))
            let id = server.tree.id(of: "/new/sub/x")
            #expect(try await client("MOVE", "new", [to + "moved"]).status == 201)
            #expect(server.tree.id(of: "/moved/sub/x") == id)
            #expect(try await client("MOVE", "y", [to + "copy/sub/x", "Overwrite: F"]).status == 412)
            #expect(try await client("MOVE", "y", [to + "copy/sub/x"]).status == 204)
            #expect(server.tree.bytes(of: "/copy/sub/x") == Array("y".utf8))
            #expect(try await client("MOVE", "moved", [to + "moved/sub/in"]).status == 403)
            #expect(try await client("MOVE", "moved", [to + "no/parent"]).status == 409)
            #expect(try await client("DELETE", "copy").status == 204)
            #expect(try await client("DELETE", "copy").status == 404)
            #expect(server.tree.paths == ["/moved/", "/moved/sub/", "/moved/sub/x"])
            #expect(try await client("PATCH", "moved").status == 405)
        }
    }

    @Test("the documents tell the family, and only the password opens the rest")
    func documents() async throws {
        try await TestServer.running { server async throws in
            var client = Client(server)
            let capabilities = "//ocs/v2.php/cloud/capabilities?format=json"
            let header = ["OCS-APIRequest: true"]
            #expect(try await client("GET", capabilities, header).body.contains("\"pollinterval\":30000"))
            #expect(try await client("GET", capabilities).status == 412)
            #expect(
                try await client("GET", "//ocs/v1.php/cloud/capabilities?format=json", header).body.contains(
                    "\"statuscode\":100"))
            #expect(
                try await client("GET", "//ocs/v2.php/cloud/user?format=json", header).body.contains(
                    "\"id\":\"demo\""))
            #expect(try await client("OPTIONS", "").fields["dav"] == "1, 2, 3")
            client.credentials = nil
            #expect(try await client("GET", "//status.php").body.contains("\"installed\":true"))
            let refused = try await client.list()
            #expect(refused.status == 401 && refused.fields["www-authenticate"]?.hasPrefix("Basic ") == true)
            #expect(try await client("GET", capabilities).status == 401)
            client.credentials = "demo:wrong"
            #expect(try await client.list().status == 401)
            #expect(server.requests.map(\.path).contains("/status.php"))
        }
    }

    @Test(
        "paths that would leave the tree name nothing", arguments: ["../x", "a/%2e%2e/b", "a%2fb", "a%00", "%4", "%zz"])
    func strangePaths(_ path: String) async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/a/b", "x")
            server.tree.put("/b", "x")
            let client = Client(server)
            #expect(try await client("GET", path).status == 404)
            #expect(try await client("PUT", path, body: "y").status == 404)
            #expect(server.tree.paths == ["/a/", "/a/b", "/b"])
        }
    }

    @Test("TLS with the certificate that was given; stopped, nothing listens")
    func tls() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try await Certificate.make(in: folder)
            var configuration = TestServer.Configuration()
            configuration.certificate = (certificate.file, certificate.key)
            let stopped = try await TestServer.running(configuration) { server in
                server.tree.put("/a", "x")
                let reply = try await Client(server)("GET", "a", more: ["--cacert", certificate.file])
                #expect(reply.body == "x")
                return server
            }
            // Another server may have the port by now.
            let reply = try await Client(stopped)("GET", "a", more: ["--cacert", certificate.file])
            #expect(reply.exitCode != 0)
        }
    }
}
