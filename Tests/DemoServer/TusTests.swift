import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct TusTests {
    private let version = "Tus-Resumable: 1.0.0"
    private let part = "Content-Type: application/offset+octet-stream"
    /// The base64 of `new` and of 784111777.
    private let metadata = "Upload-Metadata: filename bmV3,mtime Nzg0MTExNzc3"

    private func create(
        _ client: Client, _ length: Int, metadata: String? = nil, _ fields: String..., folder: String = "f"
    ) async throws -> Client.Reply {
        let all = [version, "Upload-Length: \(length)", metadata ?? self.metadata] + fields
        return try await client("POST", folder, all, body: "")
    }

    /// Returns the path of an upload's address, as the client takes it.
    private func path(_ reply: Client.Reply, _ server: TestServer) throws -> String {
        let location = try #require(reply.fields["location"])
        try #require(location.hasPrefix(server.url + "/data/tus/"))
        return "/" + location.dropFirst(server.url.count)
    }

    private func patch(
        _ client: Client, _ path: String, at offset: Int, _ body: String, _ fields: String...
    ) async throws -> Client.Reply {
        try await client("PATCH", path, [version, part, "Upload-Offset: \(offset)"] + fields, body: body)
    }

    @Test("resumable uploads are announced in the capabilities, and for folders in OPTIONS and PROPFIND")
    func announced() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            func support() async throws -> Bool {
                let address = "//ocs/v2.php/cloud/capabilities?format=json"
                return try await client("GET", address, ["OCS-APIRequest: true"]).body.contains(
                    #""tus_support":{"version":"1.0.0","resumable":"1.0.0","#
                        + #""extension":"creation,creation-with-upload","max_chunk_size":10000000,"#
                        + #""http_method_override":""}"#)
            }
            #expect(try await support())
            for method in ["OPTIONS", "PROPFIND"] {
                let reply = try await client(method, "", ["Depth: 0"])
                #expect(reply.fields["tus-resumable"] == "1.0.0" && reply.fields["tus-version"] == "1.0.0")
                #expect(reply.fields["tus-extension"] == "creation,creation-with-upload,checksum,expiration")
            }
            server.behave { $0.tus = nil }
            #expect(try await !support())
            #expect(try await client("OPTIONS", "").fields["tus-resumable"] == nil)
            #expect(try await create(client, 1, folder: "").status == 405)
        }
    }

    @Test("an upload in parts becomes a file with its last byte, with its time, its ETag and its id in the answer")
    func parts() async throws {
        try await TestServer.running { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            let created = try await create(client, 10)
            #expect(created.status == 201 && created.fields["tus-resumable"] == "1.0.0")
            #expect(created.fields["upload-expires"] != nil)
            let path = try path(created, server)
            let first = try await patch(client, path, at: 0, "0123")
            #expect(first.status == 204 && first.fields["upload-offset"] == "4" && first.fields["etag"] == nil)
            let head = try await client("HEAD", path, [version])
            #expect(head.status == 200 && head.fields["upload-offset"] == "4" && head.fields["upload-length"] == "10")
            #expect(head.fields["cache-control"] == "no-store")
            #expect(try await patch(client, path, at: 3, "3456").status == 409)
            #expect(try await patch(client, path, at: 4, "4567890").status == 413)
            #expect(!server.tree.exists("/f/new"))
            let last = try await client(
                "POST", path, [version, part, "Upload-Offset: 4", "X-HTTP-Method-Override: PATCH"], body: "456789")
            #expect(last.status == 204 && last.fields["upload-offset"] == "10")
            #expect(server.tree.bytes(of: "/f/new") == Array("0123456789".utf8) && server.openUploads == 0)
            let listed = try await client.list("f/new", depth: "0").body
            #expect(last.fields["oc-etag"] == listed.contents(of: "d:getetag").first)
            #expect(last.fields["oc-fileid"] == listed.contents(of: "oc:id").first)
            #expect(listed.contents(of: "d:getlastmodified") == ["Sun, 06 Nov 1994 08:49:37 GMT"])
            #expect(last.fields["x-oc-mtime"] == "accepted")
            #expect(try await client("HEAD", path, [version]).status == 404)
        }
    }

    @Test("a POST that brings bytes begins with them, and is the whole upload if they are all")
    func withUpload() async throws {
        try await TestServer.running { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            let fields = [version, "Upload-Length: 5", metadata, part]
            let begun = try await client("POST", "f", fields, body: "Hel")
            #expect(begun.status == 201 && begun.fields["upload-offset"] == "3")
            #expect(try await patch(client, try path(begun, server), at: 3, "lo").status == 204)
            let whole = try await client("POST", "f", fields, body: "World")
            #expect(whole.status == 201 && whole.fields["upload-offset"] == "5" && whole.fields["oc-etag"] != nil)
            #expect(server.tree.bytes(of: "/f/new") == Array("World".utf8))
            let empty = try await create(client, 0)
            #expect(empty.status == 201 && empty.fields["oc-fileid"] != nil && server.openUploads == 0)
            #expect(server.tree.bytes(of: "/f/new") == [])
        }
    }

    @Test("a part with a wrong checksum is not kept, and an upload with a wrong checksum is dropped")
    func checksums() async throws {
        try await TestServer.running { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            // The base64 of `SHA1 f7ff9e8b7bb2e09b70935a5d785e0cc5d9d0abf0`, the checksum of `Hello`.
            let sum = ",checksum U0hBMSBmN2ZmOWU4YjdiYjJlMDliNzA5MzVhNWQ3ODVlMGNjNWQ5ZDBhYmYw"
            let path = try path(try await create(client, 5, metadata: metadata + sum), server)
            let wrong = try await patch(client, path, at: 0, "Hel", "Upload-Checksum: md5 AAAAAAAAAAAAAAAAAAAAAA==")
            #expect(wrong.status == 460)
            #expect(try await client("HEAD", path, [version]).fields["upload-offset"] == "0")
            #expect(try await patch(client, path, at: 0, "Hel", "Upload-Checksum: crc AAAA").status == 400)
            let other = try await patch(
                client, path, at: 0, "Hello", "Upload-Checksum: sha1 9/+ei3uy4Jtwk1pdeF4Mxdnqq/A=")
            #expect(other.status == 460)
            let exact = try await patch(
                client, path, at: 0, "Hello", "Upload-Checksum: sha1 9/+ei3uy4Jtwk1pdeF4MxdnQq/A=")
            #expect(exact.status == 204 && server.tree.bytes(of: "/f/new") == Array("Hello".utf8))

            let second = try self.path(try await create(client, 5, metadata: metadata + sum), server)
            #expect(try await patch(client, second, at: 0, "World").status == 460)
            #expect(server.tree.bytes(of: "/f/new") == Array("Hello".utf8) && server.openUploads == 0)
        }
    }

    @Test("an upload that would not be allowed as a PUT is refused at its creation, and again at its end")
    func conditions() async throws {
        try await TestServer.running { server async throws in
            server.tree.put("/f/new", "old")
            let client = Client(server)
            let etag = try #require(try await client("HEAD", "f/new").fields["etag"])
            #expect(try await create(client, 1, "If-None-Match: *").status == 412)
            #expect(try await create(client, 1, "If-Match: \"other\"").status == 412)
            let path = try path(try await create(client, 1, "If-Match: \(etag)"), server)
            server.tree.put("/f/new", "newer")
            #expect(try await patch(client, path, at: 0, "x").status == 412)
            #expect(server.tree.bytes(of: "/f/new") == Array("newer".utf8))
            server.quota = 8
            #expect(try await create(client, 9).status == 507)
            server.quota = nil
            server.tree.permit("/f/new", "SR")
            #expect(try await create(client, 1).status == 403)
            #expect(try await create(client, 1, folder: "none").status == 404)
            #expect(try await create(client, 1, folder: "f/new").status == 405)
            #expect(try await create(client, 1, metadata: "Upload-Metadata: filename YS9i").status == 412)
            #expect(try await create(client, 1, metadata: "Upload-Metadata: mtime MQ==").status == 412)
            #expect(try await create(client, -1).status == 400)
            let old = try await client("POST", "f", ["Upload-Length: 1", metadata], body: "")
            #expect(old.status == 412 && old.fields["tus-version"] == "1.0.0")
        }
    }

    @Test("an upload expires with its time, or when a test says so, and can tell a wrong offset")
    func faults() async throws {
        let clock = SecondsClock()
        try await TestServer.running(clock.configuration) { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            let path = try path(try await create(client, 5), server)
            clock.advance(86_399)
            #expect(try await patch(client, path, at: 0, "He").status == 204)
            let fault = server.add(Fault(.wrongOffset(by: -1), path: "/data/tus", below: true))
            #expect(try await client("HEAD", path, [version]).fields["upload-offset"] == "1")
            server.remove(fault)
            #expect(try await patch(client, path, at: 1, "e").status == 409)
            clock.advance(1)
            #expect(try await client("HEAD", path, [version]).status == 410)
            #expect(try await patch(client, path, at: 2, "llo").status == 410)
            let other = try self.path(try await create(client, 5), server)
            server.add(Fault(.uploadExpired, method: "PATCH", times: 1))
            #expect(try await patch(client, other, at: 0, "Hello").status == 410)
            #expect(server.tree.paths == ["/f/"])
            var stranger = client
            stranger.credentials = nil
            #expect(try await stranger("HEAD", other, [version]).status == 401)
        }
    }

    @Test("what arrived of a part before its connection broke is kept, and the upload goes on behind it")
    func broken() async throws {
        try await TestServer.running { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            let path = try path(try await create(client, 10), server)
            server.add(Fault(.cutRequest(afterBytes: 4), method: "PATCH", times: 1))
            #expect(try await patch(client, path, at: 0, "0123456789").status == 0)
            #expect(try await client("HEAD", path, [version]).fields["upload-offset"] == "4")
            #expect(try await patch(client, path, at: 4, "456789").status == 204)
            #expect(server.tree.bytes(of: "/f/new") == Array("0123456789".utf8))
        }
    }

    @Test("an upload can be dropped where the server offers that, and not elsewhere")
    func dropped() async throws {
        try await TestServer.running { server async throws in
            server.tree.makeFolder("/f")
            let client = Client(server)
            let path = try path(try await create(client, 5), server)
            #expect(try await client("DELETE", path, [version]).status == 405 && server.openUploads == 1)
            server.behave { $0.tus?.terminates = true }
            #expect(try await client("OPTIONS", "").fields["tus-extension"]?.hasSuffix(",termination") == true)
            #expect(try await client("DELETE", path, [version]).status == 204 && server.openUploads == 0)
            #expect(try await client("DELETE", path, [version]).status == 404)
        }
    }

    @Test("a large upload goes into a file of the server's own, part after part")
    func large() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.scratchFolder = folder
            try await TestServer.running(configuration) { server async throws in
                server.tree.makeFolder("/f")
                let client = Client(server)
                let large = String(repeating: "0123456789abcdef", count: 100_000)
                try Files.write(large, to: "\(folder)/large")
                let path = try path(try await create(client, 3_200_000), server)
                for offset in [0, 1_600_000] {
                    let reply = try await client(
                        "PATCH", path, [version, part, "Upload-Offset: \(offset)"],
                        more: ["--data-binary", "@\(folder)/large"])
                    #expect(reply.status == 204)
                }
                let back = try await client("GET", "f/new").body
                #expect(back == large + large)
                #expect(try Files.countOpen(below: folder) == 1)
                #expect(server.tree.remove("/f"))
                await until { (try? Files.countOpen(below: folder)) == 0 }
                #expect(try Files.names(in: folder) == ["large"])
            }
        }
    }
}
