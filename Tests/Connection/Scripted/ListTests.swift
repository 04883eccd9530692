import Model
import Synchronization
import Testing
import Transfer

@testable import Connection

/// Connects to a plain server whose root is `/d/`. After the first listing, the listings of `/d/` and `/d/F/` are this
/// answer.
private func connection(_ answer: @escaping @Sendable () -> HTTPAnswer) async throws -> Connection {
    let transport = ScriptedTransport { request, number throws(TransportError) in
        if number == 0 { return .status(404) }
        return number == 1 ? .status(207, [:], Document.multistatus(["/d/"])) : answer()
    }
    let connection = Connection("https://h/d/", over: transport)
    _ = try await connection.connect()
    return connection
}

private func listing(_ entries: [String]) -> @Sendable () -> HTTPAnswer {
    { .status(207, ["Date": "Sat, 21 Nov 2026 10:12:00 GMT"], Document.multistatus(entries)) }
}

struct ListTests {
    @Test("the folder itself is told from its entries however its href is spelled")
    func own() async throws {
        for spelling in ["/d/F/", "/d/F", "https://other:1/d/%46/", "//d//F", ".", "./"] {
            let (entries, found) = try await connection(listing(["/d/F/a", spelling, "/d/F/b/"])).entries(
                of: path("/F"))
            #expect(entries.map(\.path) == [path("/F/a"), path("/F/b")])
            #expect(entries.map(\.kind) == [.file, .folder] && found.folder.path == path("/F"))
            #expect(found.date?.description == "2026-11-21T10:12:00Z" && found.entries == 2)
        }
    }

    @Test(
        "I13: a listing that does not tell of the folder itself is none",
        arguments: [[], ["/d/F/a"], ["/d/"], ["/d/G/"]])
    func missing(_ hrefs: [String]) async throws {
        let connection = try await connection(listing(hrefs))
        let error = await #expect(throws: ConnectionError.self) { try await connection.entries(of: path("/F")) }
        #expect(error?.kind == .protocolViolation)
    }

    @Test("names that cannot be kept are told, each with its reason, and the others come")
    func refused() async throws {
        let hrefs = [
            "/d/F/", "/d/F/good", "/d/F/../../etc/passwd", "/d/F/a%2Fb", "/d/F/%FF",
            "/d/F/\(String(repeating: "n", count: 256))",
        ]
        let (entries, found) = try await connection(listing(hrefs)).entries(of: path("/F"))
        #expect(entries.map(\.path) == [path("/F/good")])
        #expect(found.refused.map(\.problem) == [.dotName, .slashInName, .notUTF8, .nameTooLong])
        #expect(found.refused[0].href == "/d/F/../../etc/passwd" && found.refused[1].href == "/d/F/a%2Fb")
        #expect(found.refused[2].href == "/d/F/%FF")
    }

    @Test("names that cannot be kept are told as people know them, and nothing in them moves the cursor")
    func refusedNames() async throws {
        let long = String(repeating: "%E6%97%A5", count: 100)
        let hrefs = [
            "/d/F/", "/d/F/%E6%97%A5%20a%2Fb", "/d/F/x%2F%1B%5B2J%C2%85%E2%80%AE", "/d/F/\u{e4}%2F100%", "/d/F/\(long)",
        ]
        let (_, found) = try await connection(listing(hrefs)).entries(of: path("/F"))
        #expect(
            found.refused.prefix(3).map(\.href) == [
                "/d/F/\u{65e5} a%2Fb", "/d/F/x%2F%1B[2J%C2%85%E2%80%AE", "/d/F/\u{e4}%2F100%",
            ])
        #expect(found.refused.last?.href.hasPrefix("/d/F/\u{65e5}\u{65e5}") == true)
    }

    @Test(
        "C15: another date is another version, in whatever form the server writes it",
        arguments: [
            ("Fri, 7 Sep 2018 08:49:58 GMT", "Fri, 7 Sep 2018 09:49:58 GMT"),
            ("2018-02-28T20:24:24Z", "2018-02-28T20:24:25Z"),
            ("Fr, 07 Dez 2018 08:49:58 GMT", "Fr, 07 Dez 2018 09:49:58 GMT"),
            ("Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 30 Dec 9999 23:59:59 GMT"),
            ("Mon, 01 Jan 0001 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:01 GMT"),
        ])
    func dates(_ one: String, _ other: String) async throws {
        func version(_ date: String) async throws -> ETag? {
            let document = """
                <multistatus xmlns="DAV:"><response><href>/d/F/</href><propstat>\
                <prop><resourcetype><collection/></resourcetype></prop><status>200 OK</status></propstat></response>\
                <response><href>/d/F/f</href><propstat><prop><resourcetype/><getcontentlength>3</getcontentlength>\
                <getlastmodified>\(date)</getlastmodified></prop><status>HTTP/1.1 200 OK</status></propstat></response>\
                </multistatus>
                """
            return try await connection({ .status(207, [:], document) }).entries(of: path("/F")).0.first?.etag
        }
        let versions = (try await version(one), try await version(one), try await version(other))
        #expect(versions.0 != nil && versions.0 == versions.1 && versions.2 != versions.0)
    }

    @Test("I13: an entry that the server cannot tell about is known to be there")
    func unknown() async throws {
        let document = """
            <multistatus xmlns="DAV:"><response><href>/d/F/</href><propstat>\
            <prop><resourcetype><collection/></resourcetype></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response>\
            <response><href>/d/F/secret</href><status>HTTP/1.1 403 Forbidden</status></response>\
            <response><href>/d/F/broken</href><propstat><prop><resourcetype/></prop>\
            <status>HTTP/1.1 500 x</status></propstat></response>\
            <response><href>/d/F/gone</href><status>HTTP/1.1 404 Not Found</status></response></multistatus>
            """
        let (entries, found) = try await connection({ .status(207, [:], document) }).entries(of: path("/F"))
        #expect(entries.isEmpty && found.unknown == [path("/F/secret"), path("/F/broken")])
        #expect(found.leftOut == [path("/F/gone")])
    }

    @Test("a folder that the server lists under its decomposed name is the one that was asked for, with all in it")
    func decomposed() async throws {
        let (nfc, nfd) = ("/\u{f6}/\u{e9}", "/d/o%CC%88/e%CC%81")
        let folder = try await connection(listing([nfd + "/", nfd + "/a", nfd + "/o%CC%88"]))
        let (entries, found) = try await folder.entries(of: path(nfc))
        #expect(found.folder.path == path(nfc))
        #expect(entries.map(\.path) == [path(nfc + "/a"), path(nfc + "/o\u{308}")])
        let other = try await connection(listing([nfd + "/", "/d/o/e%CC%81/a"]))
        let error = await #expect(throws: ConnectionError.self) { try await other.entries(of: path(nfc)) }
        #expect(error?.kind == .protocolViolation)
    }

    @Test("an error about the folder itself is the listing's error")
    func ownError() async throws {
        for (status, kind) in [(404, ConnectionError.Kind.notFound), (403, .forbidden), (500, .serverError)] {
            let document =
                "<multistatus xmlns=\"DAV:\"><response><href>/d/F/</href>"
                + "<status>HTTP/1.1 \(status) x</status></response></multistatus>"
            let connection = try await connection { .status(207, [:], document) }
            let error = await #expect(throws: ConnectionError.self) { try await connection.entries(of: path("/F")) }
            #expect(error?.kind == kind)
        }
    }

    @Test("S18: calendars, address books and principals are no items, nor is what is in them; the listing names them")
    func foreign() async throws {
        let calendar = "<collection/><calendar xmlns=\"urn:ietf:params:xml:ns:caldav\"/>"
        let kinds = [
            ("/d/", "<collection/>"), ("/d/cal/", calendar), ("/d/cal/e.ics", ""), ("/d/docs/", "<collection/>"),
            ("/d/book/", "<collection/><addressbook xmlns=\"urn:ietf:params:xml:ns:carddav\"/>"),
            ("/d/me/", "<principal/>"),
            ("/d/cal2.txt", ""),
        ]
        let responses = kinds.map { href, kind in
            "<response><href>\(href)</href><propstat><prop><resourcetype>\(kind)</resourcetype></prop>"
                + "<status>HTTP/1.1 200 OK</status></propstat></response>"
        }
        let document = "<multistatus xmlns=\"DAV:\">\(responses.joined())</multistatus>"
        let (entries, found) = try await connection({ .status(207, [:], document) })
            .entries(of: .root, depth: .infinity)
        #expect(entries.map(\.path) == [path("/docs"), path("/cal2.txt")])
        #expect(found.foreign == [path("/book"), path("/cal"), path("/me")] && !found.isForeign)
    }

    @Test("Depth: infinity tells whether grandchildren came; one level of it looks like an answer")
    func depths() async throws {
        let (_, whole) = try await connection(listing(["/d/", "/d/a/", "/d/a/b"])).entries(of: .root, depth: .infinity)
        #expect(whole.reachesGrandchildren)
        let (_, level) = try await connection(listing(["/d/", "/d/a/", "/d/c"])).entries(of: .root, depth: .infinity)
        #expect(!level.reachesGrandchildren)
        let connection = try await connection(listing(["/d/", "/d/a/", "/d/a/b"]))
        let error = await #expect(throws: ConnectionError.self) { try await connection.entries(of: .root) }
        #expect(error?.kind == .protocolViolation)
    }

    @Test("ETags without quotes, weak ones and none; sizes, dates and types as values")
    func properties() async throws {
        let document = """
            <multistatus xmlns="DAV:" xmlns:o="http://owncloud.org/ns">\
            <response><href>/d/</href><propstat><prop><resourcetype><collection/></resourcetype>\
            <getlastmodified>Sat, 21 Nov 2026 10:12:00 GMT</getlastmodified><o:size>99</o:size></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response>\
            <response><href>/d/a</href><propstat><prop><resourcetype/>\
            <getetag>16344786-1795237513-1000</getetag><getcontentlength>5</getcontentlength>\
            <getcontenttype>Text/Plain; charset=utf-8</getcontenttype><o:id>7oc</o:id><o:favorite>1</o:favorite></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response>\
            <response><href>/d/b</href><propstat><prop><resourcetype/>\
            <getcontentlength>6</getcontentlength>\
            <getlastmodified>Sat, 21 Nov 2026 10:12:00 GMT</getlastmodified></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response>\
            <response><href>/d/c</href><propstat><prop><resourcetype/>\
            <getetag>W/"w"</getetag><getcontentlength>-1</getcontentlength></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>
            """
        let (entries, found) = try await connection({ .status(207, [:], document) }).entries(of: .root)
        #expect(found.folder.etag == nil && found.folder.size == 99)
        #expect(entries[0].etag == ETag(opaque: "16344786-1795237513-1000", strength: .strong))
        #expect(entries[0].mimeType == "text/plain" && entries[0].fileID == FileID("7oc") && entries[0].isFavorite)
        #expect(entries[1].etag == .substitute(size: 6, lastModified: Timestamp(rfc3339: "2026-11-21T10:12:00Z")))
        #expect(entries[1].fileID == nil)
        #expect(entries[2].etag?.strength == .weak && entries[2].size == nil)
    }

    @Test("what only the ownCloud family has is asked for below the root where the root's listing had some of it")
    func familyProperties() async throws {
        let response: @Sendable (String, String) -> String = { href, properties in
            """
            <response><href>\(href)</href><propstat>\
            <prop><resourcetype><collection/></resourcetype>\(properties)</prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response>
            """
        }
        let id = "<id xmlns=\"http://owncloud.org/ns\">1</id>"
        let hasIDs = Mutex(false)
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if request.method == "GET" { return .status(404) }
            let isRoot = request.address.path == "/d/"
            let own = response(isRoot ? "/d/" : "/d/F/", "")
            let child = response("/d/F/", hasIDs.withLock(\.self) ? id : "")
            let isListed = isRoot && request.headers.first(name: "Depth") == "1"
            return .status(207, [:], "<multistatus xmlns=\"DAV:\">\(own)\(isListed ? child : "")</multistatus>")
        }
        let connection = Connection("https://h/d/", over: transport)
        let asksForAll = { () async throws -> Bool in
            _ = try await connection.entries(of: path("/F"))
            let body = try #require(transport.requests.last?.body)
            #expect(body == PropertyRequest.body || body == PropertyRequest.standardBody)
            return body == PropertyRequest.body
        }
        _ = try await connection.connect()
        #expect(try await asksForAll(), "only the root itself was asked for")
        _ = try await connection.entries(of: .root)
        #expect(transport.requests.last?.body == PropertyRequest.body)
        #expect(try await !asksForAll())
        hasIDs.withLock { $0 = true }
        _ = try await connection.entries(of: .root)
        #expect(transport.requests.last?.body == PropertyRequest.body)
        #expect(try await asksForAll())
    }

    @Test("I13: an answer that breaks off throws, after whatever was handed out")
    func breaksOff() async throws {
        let many = Document.multistatus(["/d/"] + (0..<2_000).map { "/d/f\($0)" })
        let connection = try await connection { .status(207, [:], String(many.dropLast(30)), failure: .closed) }
        var seen = 0
        await #expect(throws: ConnectionError.self) { try await connection.listings.list(.root) { seen += $0.count } }
        #expect(seen <= 2_000)
    }

    @Test("what the caller throws ends the listing as it is")
    func callerThrows() async throws {
        struct Full: Error {}
        let connection = try await connection(listing(["/d/", "/d/a"]))
        await #expect(throws: Full.self) { try await connection.listings.list(.root) { _ in throw Full() } }
    }

    @Test("C7: no more listings and downloads than allowed are on the network at a time")
    func width() async throws {
        let traffic = Traffic()
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if number == 0 { return .status(404) }
            var answer = traffic.answer([:], Document.multistatus(["/d/"]))
            if request.method == "GET" { answer.status = 200 }
            return answer
        }
        let connection = Connection("https://h/d/", connections: 3, over: transport)
        _ = try await connection.connect()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await connection.entries(of: .root) }
                group.addTask { _ = try await connection.downloads.get(path("/a"), into: MemorySink()) }
            }
            try await group.waitForAll()
        }
        #expect(traffic.total == 41 && traffic.most <= 3)
    }

    @Test("S23: what a server says of when to come back is passed on")
    func retryAfter() async throws {
        for (status, field, wait) in [(503, "120", 120), (429, "Sat, 21 Nov 2026 10:12:30 GMT", 30), (500, "", nil)]
            as [(Int, String, Int?)]
        {
            let connection = try await connection {
                .status(status, ["Retry-After": field, "Date": "Sat, 21 Nov 2026 10:12:00 GMT"])
            }
            let error = await #expect(throws: ConnectionError.self) { try await connection.entries(of: .root) }
            #expect(error?.kind == .serverError && error?.retryAfter == wait.map { .seconds($0) })
        }
    }
}
