import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct ShareTests {
    private struct OCS {
        let server: TestServer
        let client: Client

        init(_ server: TestServer) { (self.server, client) = (server, Client(server)) }

        /// Sends a request to the sharing service.
        /// - Parameter path: The path below the service's address.
        func callAsFunction(_ path: String, version: Int = 2, format: String = "json") async throws -> Client.Reply {
            let mark = path.contains("?") ? "&" : "?"
            return try await client(
                "GET", "//ocs/v\(version).php/apps/files_sharing/api/v1/\(path)\(mark)format=\(format)",
                ["OCS-APIRequest: true"])
        }
    }

    private func fill(_ server: TestServer) {
        server.tree.put("/Photos/a.jpg", "x")
        server.tree.put("/Shared/b.txt", "y")
        var link = Share("/Photos", .byMe, type: 3, token: "t1")
        link.expiration = "2026-12-31 00:00:00"
        server.shares.add(link)
        server.shares.add(Share("/Photos/a.jpg", .byMe, sharedWith: "grace"))
        var pending = Share("/Shared/b.txt", .withMe, owner: "grace")
        server.shares.add(pending)
        pending.state = .pending
        server.shares.add(pending)
        var remote = Share("/Far", .withMe, type: 6, owner: "joan")
        server.shares.add(remote)
        remote.state = .pending
        server.shares.add(remote)
    }

    @Test("shares by me and with me are two listings; only the literal text true opens the second")
    func directions() async throws {
        try await TestServer.running { server async throws in
            fill(server)
            let ask = OCS(server)
            let byMe = try await ask("shares")
            #expect(byMe.status == 200 && byMe.ids == ["1", "2"])
            #expect(
                byMe.body.contains(#"{"ocs":{"meta":{"status":"ok","statuscode":200,"message":"OK"},"data":[{"id":"1""#)
            )
            #expect(byMe.body.contains(#""share_type":3,"uid_owner":"demo""#))
            #expect(byMe.body.contains(#""url":"\#(server.url.replacing("/", with: "\\/"))\/s\/t1""#))
            #expect(byMe.body.contains(#""expiration":"2026-12-31 00:00:00","token":"t1""#))
            #expect(byMe.body.contains(#""path":"\/Photos\/a.jpg","item_type":"file""#))
            #expect(try await ask("shares?shared_with_me=1").ids == byMe.ids)
            let withMe = try await ask("shares?shared_with_me=true")
            #expect(withMe.ids == ["3"] && withMe.body.contains(#""state":0"#))
            #expect(withMe.body.contains(#""uid_owner":"grace""#) && withMe.body.contains(#""share_with":"demo""#))
            #expect(try await ask("shares?path=/Photos&subfiles=true").ids == ["2"])
            #expect(try await ask("shares?path=/None").status == 404)
            #expect(try await ask("shares/2").ids == ["2"])
            let gone = try await ask("shares/99")
            #expect(gone.status == 404 && gone.body.contains(#""status":"failure","statuscode":404"#))
            #expect(server.requests.last?.query == "format=json")
            let without = try await ask.client("GET", "//ocs/v2.php/apps/files_sharing/api/v1/shares?format=json")
            #expect(without.status == 412 && without.body.contains("CSRF"))
        }
    }

    @Test("version 1 says 200 in its head and the rest in its body; the form is XML unless it is asked for")
    func versions() async throws {
        try await TestServer.running { server async throws in
            fill(server)
            let ask = OCS(server)
            #expect(try await ask("shares", version: 1).body.contains(#""statuscode":100"#))
            let gone = try await ask("shares/99", version: 1)
            #expect(gone.status == 200 && gone.body.contains(#""statuscode":998"#))
            let xml = try await ask("shares", format: "xml")
            #expect(xml.fields["content-type"]?.hasPrefix("text/xml") == true)
            #expect(xml.body.contains("<data><element><id>1</id><share_type>3</share_type>"))
            server.behave { $0.shares.alwaysHundred = true }
            #expect(try await ask("shares").body.contains(#""statuscode":100"#))
            server.behave { $0.shares.numbersAsText = true }
            #expect(try await ask("shares").body.contains(#""share_type":"3""#))
            server.behave { $0.shares.fieldsReversed = true }
            let reversed = try await ask("shares").body
            #expect(reversed.contains(#""share_type":"3","id":"1"}"#))
        }
    }

    @Test(
        "pending shares are a state at ownCloud and an address at Nextcloud; other servers' have addresses of their own"
    )
    func pending() async throws {
        try await TestServer.running { server async throws in
            fill(server)
            let ask = OCS(server)
            #expect(try await ask("shares?shared_with_me=true&state=all").ids == ["3", "4"])
            #expect(try await ask("shares?shared_with_me=true&state=1").ids == ["4"])
            #expect(try await ask("shares/pending").status == 404)
            server.behave { $0.shares.pending = .byAddress }
            #expect(try await ask("shares?shared_with_me=true&state=all").ids == ["3"])
            #expect(try await ask("shares/pending").ids == ["4"])
            let remote = try await ask("remote_shares").body
            #expect(remote.contains(#""id":5"#) && remote.contains(#""mountpoint":"\/Far""#))
            #expect(try await ask("remote_shares/pending").body.contains(#""id":6"#))
        }
    }

    @Test("switched off, sharing is a success with nothing; what cannot be reached is left out without a sign")
    func traps() async throws {
        try await TestServer.running { server async throws in
            fill(server)
            let ask = OCS(server)
            func capabilities() async throws -> String {
                try await ask.client(
                    "GET", "//ocs/v2.php/cloud/capabilities?format=json", ["OCS-APIRequest: true"]
                ).body
            }
            #expect(try await capabilities().contains(#""api_enabled":true"#))
            server.shares.change(1) { $0.isAvailable = false }
            #expect(try await ask("shares").ids == ["2"])
            #expect(try await ask("shares/1").ids == ["1"])
            server.shares.remove(2)
            #expect(try await ask("shares/2").status == 404)
            server.behave { $0.shares.enabled = false }
            let off = try await ask("shares")
            #expect(off.status == 200 && off.body.hasSuffix(#""statuscode":200,"message":"OK"},"data":[]}}"#))
            #expect(try await capabilities().contains(#""api_enabled":false"#))
            server.behave { $0.shares.offered = false }
            #expect(try await ask("shares").status == 404)
            #expect(try await !capabilities().contains("files_sharing"))
            server.behave { $0.shares = .init() }
            server.add(
                Fault(.status(429, retryAfter: 5), path: "/ocs/v2.php/apps/files_sharing", below: true, times: 1))
            let limited = try await ask("shares")
            #expect(limited.status == 429 && limited.fields["retry-after"] == "5")
        }
    }

    @Test("the user's quota is told with what is used of it")
    func quota() async throws {
        try await TestServer.running { server async throws in
            fill(server)
            server.behave { $0.quota = 1_000 }
            let user = try await Client(server)("GET", "//ocs/v1.php/cloud/user?format=json", ["OCS-APIRequest: true"])
            #expect(user.body.contains(#""quota":{"free":998,"used":2,"total":1000"#))
        }
    }
}

extension Client.Reply {
    /// The ids of the listed shares.
    fileprivate var ids: [String] {
        body.split(separator: #"{"id":""#).dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }
}
