import DemoServer
import TestServer
import TestSupport
import Testing

/// Tests of the server as it ships, without the additions of the tests' server.
@Suite struct DemoServerTests {
    private func running(_ body: (DemoServer) async throws -> Void) async throws {
        let server = try await DemoServer.start()
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test("files are listed, read and written with the password")
    func files() async throws {
        try await running { server in
            server.tree.put("/Docs/a.txt", "hello")
            var client = Client(server)
            #expect(try await client("GET", "//status.php").body.contains(#""installed":true,"maintenance":false"#))
            let listed = try await client.list("Docs")
            #expect(listed.status == 207 && listed.body.contents(of: "d:getcontentlength") == ["5"])
            #expect(try await client.list(depth: "infinity").status == 403)
            let read = try await client("GET", "Docs/a.txt", ["Range: bytes=1-"])
            #expect(read.status == 206 && read.body == "ello" && read.fields["etag"] != nil)
            let entry = try #require(server.requests.last)
            #expect(entry.method == "GET" && entry.path == "/Docs/a.txt" && entry.status == 206 && entry.bytes == 4)
            #expect(try await client("PUT", "Docs/b.txt", body: "b").status == 201)
            #expect(try await client("MKCOL", "New").status == 201)
            #expect(try await client("DELETE", "Docs/a.txt").status == 204)
            #expect(try await client("PATCH", "Docs/b.txt").status == 405)
            #expect(server.tree.paths == ["/Docs/", "/Docs/b.txt", "/New/"])
            server.forgetRequests()
            client.credentials = nil
            #expect(try await client.list().status == 401)
            #expect(try await client("PUT", "Docs/b.txt", body: "c").status == 401)
            #expect(server.requests.map(\.status) == [401, 401])
            #expect(server.tree.bytes(of: "/Docs/b.txt") == Array("b".utf8))
        }
    }

    @Test("a server that stops while clients connect closes what they have opened")
    func stopping() async throws {
        for _ in 0..<20 {
            let server = try await DemoServer.start()
            let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
            let ends = Counter()
            try await withThrowingTaskGroup(of: Void.self) { clients in
                for _ in 0..<3 {
                    clients.addTask {
                        try await onThread { while ends.value == 0, LoopbackPort.isOpen(port) {} }
                    }
                }
                await Task.yield()
                await server.stop()
                ends.add()
                try await clients.waitForAll()
            }
        }
    }

    @Test("calendars are found, listed, and followed by their tokens")
    func calendars() async throws {
        try await running { server in
            server.calendars.make("work", name: "Work")
            server.calendars.put(["a.ics": event("a"), "b.ics": event("b")], in: "work")
            let client = CalendarClient(server)
            #expect(try await client("PROPFIND", "/.well-known/caldav").status == 301)
            let home = try await client.find("/remote.php/dav/calendars/demo/", depth: 1, "<displayname/>").body
            #expect(home.contents(of: "d:displayname") == ["Work"])
            let all = try await client.sync("work", limit: 1)
            #expect(all.members == ["a.ics", "b.ics"] && all.token == "http://sabre.io/ns/sync/3")
            server.calendars.remove("a.ics", from: "work")
            server.calendars.put("c.ics", event("c"), in: "work")
            let delta = try await client.sync("work", all.token)
            #expect(delta.members == ["a.ics 404", "c.ics"])
            #expect(try await client.sync("work", delta.token).members.isEmpty)
            for token in ["http://sabre.io/ns/sync/9", "http://sabre.io/ns/sync/x", "other"] {
                let refused = try await client.sync("work", token)
                #expect(refused.status == 403 && refused.body.contains("<d:valid-sync-token/>"))
            }
            #expect(try await client("DELETE", server.calendars.path("work")).status == 405)
        }
    }

    @Test("capabilities, the user and the shares are told to programs")
    func services() async throws {
        try await running { server in
            server.tree.put("/a", "12")
            server.shares.add(Share("/a", .byMe, sharedWith: "grace"))
            let client = Client(server)
            func ask(_ path: String) async throws -> String {
                try await client("GET", "//ocs/v2.php/\(path)?format=json", ["OCS-APIRequest: true"]).body
            }
            let capabilities = try await ask("cloud/capabilities")
            #expect(capabilities.contains(#""pollinterval":30000"#) && capabilities.contains(#""api_enabled":true"#))
            #expect(!capabilities.contains("notifications"))
            #expect(try await ask("cloud/user").contains(#""quota":{"free":10737418238,"used":2,"total":10737418240"#))
            #expect(try await ask("apps/files_sharing/api/v1/shares").contains(#""share_with":"grace""#))
            #expect(try await ask("apps/notifications/api/v2/notifications").contains(#""statuscode":404"#))
            #expect(try await client("GET", "//events/core/latest").status == 404)
        }
    }
}
