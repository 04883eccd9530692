import CLarder
import LarderFakeHost
import Testing

/// Tests of the share loop with its share's root, and with a share that is not listed.
@Suite struct ShareLoopTests {
    private static let gone = #""state":"accepted","missing":2"#

    @Test("Another ETag of the share's root is looked at, the same one is not; each poll is one request")
    func changed() throws {
        let server = try ShareServer()
        server.put("12", path: "/Photos")
        server.etags["/remote.php/webdav/Photos"] = #""1""#
        #expect(server.poll("12") == LARDER_OK && server.fixture.eventID(of: "12") == #"etag:"1""#)
        #expect(server.looks() == ["/Photos"], "nobody knows what happened before")
        #expect(server.poll("12") == LARDER_OK && server.asked == ["PROPFIND /remote.php/webdav/Photos"])
        #expect(server.fixture.requests.first?.depth == 0 && server.looks() == [])
        server.etags["/remote.php/webdav/Photos"] = #""2""#
        #expect(server.poll("12") == LARDER_OK && server.looks() == ["/Photos"])
        #expect(server.poll("12") == LARDER_OK && server.looks() == [] && server.fixture.mistakes == [])
    }

    @Test("Of what the account shares nothing is asked, however much it is: the scan sees it")
    func own() throws {
        let server = try ShareServer()
        for id in 0..<50 {
            server.fixture.put(
                record: "\(id)", in: "shares", value: #"{"direction":"byMe","path":"/Docs/\#(id)"}"#)
        }
        for _ in 0..<3 { for id in 0..<50 { #expect(server.poll("\(id)") == LARDER_OK) } }
        #expect(server.asked == [] && server.fixture.eventID(of: "7") == "scanned" && server.fixture.mistakes == [])
        // One that an earlier version of the plugin asked for is not looked at, either.
        larder_fake_set_event_id(server.fixture.fake, "7", "etag:1")
        #expect(server.poll("7") == LARDER_OK && server.asked == [] && server.looks() == [])
    }

    @Test("Many shares in one folder cost one request in each cycle; the one that changed is looked at")
    func together() throws {
        let server = try ShareServer()
        server.folders = ["/remote.php/webdav/From%20others/"]
        func cycle() { for id in 0..<40 { #expect(server.poll("\(id)") == LARDER_OK) } }
        for id in 0..<40 {
            server.put("\(id)", path: "/From others/\(id)")
            server.etags["/remote.php/webdav/From%20others/\(id)"] = "1"
        }
        cycle()
        _ = server.looks()
        cycle()
        #expect(server.asked == ["PROPFIND /remote.php/webdav/From%20others/"] && server.looks() == [])
        server.etags["/remote.php/webdav/From%20others/7"] = "2"
        cycle()
        #expect(server.asked.count == 1 && server.looks() == ["/From others/7"])
        // One that is away is asked for by itself, and looked at.
        server.etags["/remote.php/webdav/From%20others/7"] = nil
        cycle()
        #expect(server.asked.count == 2 && server.fixture.eventID(of: "7") == "absent")
        #expect(server.looks() == ["/From others/7"])
        // What the folder's listing fails with, all shares in it fail with, after one request.
        server.status = 500
        for id in 0..<40 { #expect(server.poll("\(id)") == LARDER_IO) }
        #expect(server.asked.count == 1 && server.fixture.mistakes == [])
    }

    @Test(
        "Shares with no folder in common, a very large one, or one that leaves them out take turns; none waits for ever",
        arguments: [0, 1, 2])
    func turns(_ folders: Int) throws {
        let server = try ShareServer()
        let count = 100
        let paths = (0..<count).map { folders == 0 ? "/\($0)/s" : "/all/\($0)" }
        server.folders = ["/remote.php/webdav/all/"]
        server.others = folders == 1 ? 20_000 : 0
        for id in 0..<count {
            server.put("\(id)", path: paths[id])
            server.etags["/remote.php/webdav" + paths[id]] = "1"
            if folders == 2, id < 80 { server.hidden.insert("/remote.php/webdav" + paths[id]) }
        }
        func cycle() { for id in 0..<count { #expect(server.poll("\(id)") == LARDER_OK) } }
        for _ in 0..<3 { cycle() }
        server.fixture.forget()
        for id in 0..<count { server.etags["/remote.php/webdav" + paths[id]] = "2" }
        for _ in 0..<6 {
            cycle()
            #expect((1...40).contains(server.asked.count))
            server.fixture.forget()
        }
        #expect((0..<count).allSatisfy { server.fixture.eventID(of: "\($0)") == "etag:2" })
    }

    @Test(
        "The share's root is asked for by its encoded path, wherever it is",
        arguments: [
            ("/", ""), ("/50% off/Ä#?.txt", "50%25%20off/%C3%84%23%3F.txt"), ("/a+b &c", "a%2Bb%20%26c"),
            ("/\u{41}\u{308}/\u{301}x", "A%CC%88/%CC%81x"),
        ])
    func names(_ path: String, _ target: String) throws {
        let server = try ShareServer(home: "/cloud/remote.php/dav/files/ada%20l/")
        server.put("12", path: path)
        server.etags["/cloud/remote.php/dav/files/ada%20l/" + target] = "x"
        #expect(server.poll("12") == LARDER_OK)
        let looks = server.looks()
        #expect(looks.map { Array($0.utf8) } == [Array(path.utf8)] && server.fixture.eventID(of: "12") == "etag:x")
    }

    @Test(
        "O05: of a share that waits to be accepted, was rejected, or has no path, nothing is asked",
        arguments: [#""state":"pending""#, #""state":"rejected""#, ""])
    func pending(_ state: String) throws {
        let server = try ShareServer()
        if state.isEmpty {
            server.put("12", path: nil)
        } else {
            server.put("12", path: "/New", state)
        }
        server.etags["/remote.php/webdav/New"] = "1"
        for _ in 0..<2 { #expect(server.poll("12") == LARDER_OK && server.asked == []) }
        #expect(server.looks() == [] && server.exists("12"))
        // The share is accepted, and everything in it is new.
        server.put("12", path: "/New")
        #expect(server.poll("12") == LARDER_OK)
        #expect(server.fixture.loopCalls.contains("refresh 12 \(LARDER_REFRESH_EVERYTHING)"))
        #expect(server.looks() == ["/New"] && server.fixture.eventID(of: "12") == "etag:1")
        // The share is then rejected and leaves the tree.
        server.put("12", path: "/New", #""state":"rejected""#)
        #expect(server.poll("12") == LARDER_OK && server.asked == [])
        #expect(server.looks() == ["/New"])
    }

    @Test("A root that is away is looked at once, and again at whole when it is back; a failure is no absence")
    func away() throws {
        let server = try ShareServer()
        server.put("12", path: "/P")
        server.etags["/remote.php/webdav/P"] = "1"
        server.poll("12")
        server.fixture.forget()
        server.status = 500
        #expect(server.poll("12") == LARDER_IO && server.fixture.eventID(of: "12") == "etag:1" && server.looks() == [])
        (server.status, server.etags) = (207, [:])
        #expect(server.poll("12") == LARDER_OK && server.looks() == ["/P"])
        #expect(server.poll("12") == LARDER_OK && server.looks() == [])
        server.etags["/remote.php/webdav/P"] = "1"
        #expect(server.poll("12") == LARDER_OK && server.looks() == ["/P"] && server.exists("12"))
    }

    @Test(
        "O04: a share is gone when it was not listed twice, the server has none of that id, and shares at all",
        arguments: [("12", "shares/12", ""), ("remote-12", "remote_shares/12", #","remote":true"#)])
    func gone(_ id: String, _ target: String, _ more: String) throws {
        let server = try ShareServer()
        server.etags["/remote.php/webdav/P"] = "1"
        server.put(id, path: "/P", #""missing":1"# + more)
        larder_fake_set_event_id(server.fixture.fake, id, "etag:1")
        #expect(server.poll(id) == LARDER_OK && server.exists(id))
        #expect(server.asked == ["PROPFIND /remote.php/webdav/P"], "once may be an accident")
        server.fixture.forget()
        server.put(id, path: "/P", #""missing":2"# + more)
        #expect(server.poll(id) == LARDER_OK && !server.exists(id))
        let prefix = "GET /ocs/v2.php/apps/files_sharing/api/v1/"
        #expect(
            server.asked
                == ["\(prefix)\(target)?format=json", "GET /ocs/v2.php/cloud/capabilities?format=json"])
        #expect(server.looks() == [], "files are not removed for it")
    }

    @Test(
        "O04: a share that the server has, or of which it does not say so, stays and is watched on",
        arguments: [(200, "[{}]", LARDER_OK), (100, "[]", LARDER_OK), (500, "[]", LARDER_IO), (403, "null", LARDER_IO)])
    func there(_ code: Int, _ data: String, _ status: larder_status) throws {
        let server = try ShareServer()
        server.put("12", path: "/P", Self.gone)
        server.told["shares/12?format=json"] = (code, data)
        server.etags["/remote.php/webdav/P"] = "2"
        larder_fake_set_event_id(server.fixture.fake, "12", "etag:1")
        #expect(server.poll("12") == status && server.exists("12"))
        #expect(server.looks() == (status == LARDER_OK ? ["/P"] : []))
    }

    @Test("O04: a page that is no answer of the sharing service's is no proof", arguments: ["<html>", "{}", ""])
    func strangePage(_ body: String) throws {
        let server = try ShareServer()
        server.put("12", path: "/P", Self.gone)
        larder_fake_set_event_id(server.fixture.fake, "12", "etag:1")
        let target = "/ocs/v2.php/apps/files_sharing/api/v1/shares/12?format=json"
        larder_fake_answer(server.fixture.fake, "GET", target, 404, body)
        #expect(server.poll("12") == LARDER_IO && server.exists("12"))
    }

    @Test(
        "O03: while sharing is switched off no share is gone, whatever the server says of it",
        arguments: [#"{"api_enabled":false}"#, #"{"api_enabled":0}"#, #"{"api_enabled":""}"#, "{}", "null"])
    func switchedOff(_ sharing: String) throws {
        let server = try ShareServer()
        server.put("12", path: "/P", Self.gone)
        larder_fake_set_event_id(server.fixture.fake, "12", "etag:1")
        server.sharing = sharing
        for _ in 0..<2 { #expect(server.poll("12") == LARDER_OK && server.exists("12")) }
        server.sharing = #"{"api_enabled":"1"}"#
        #expect(server.poll("12") == LARDER_OK && !server.exists("12"))
    }
}
