import Model
import TestSupport
import Testing

@testable import Connection

struct MultistatusReaderTests {
    @Test("K13: the sync token may come first or last, and namespaces may have any prefix")
    func token() throws {
        let expected = [
            MultistatusResponse(href: "/cal/ada/1.ics", values: ["\"a\""]),
            MultistatusResponse(href: "/cal/ada/2.ics", status: 404, values: [nil]),
        ]
        let (sabre, radicale) = (try Sync.read(Sync.sabre), try Sync.read(Sync.radicale))
        #expect(sabre.responses == expected && radicale.responses == expected)
        #expect(sabre.end == MultistatusEnd(syncToken: "http://sabre.io/ns/sync/5"))
        #expect(radicale.end == MultistatusEnd(syncToken: "http://radicale.org/ns/sync/0d"))
    }

    @Test("K03: a token comes as it was sent, whatever is in it, without the layout around it")
    func opaque() throws {
        for (sent, token) in [
            ("\n  4b825dc642cb6eb9\n", "4b825dc642cb6eb9"), ("&quot;a&amp;b&lt;&quot;", "\"a&b<\""),
            ("<![CDATA[a b]]>", "a b"), ("", ""),
        ] {
            let text = "<a:multistatus xmlns:a=\"DAV:\"><a:sync-token>\(sent)</a:sync-token></a:multistatus>"
            #expect(try Sync.read(text).end.syncToken == token)
        }
        #expect(try Sync.read("<multistatus xmlns=\"DAV:\"/>") == Sync.Read())
    }

    @Test("K05: a 507 for the address itself is told at the end and is no member; others are")
    func truncated() throws {
        let text = """
            <multistatus xmlns="DAV:"><response><href>https://inner:81/cal/%61da</href><status>HTTP/1.1 507 x</status>\
            <error><number-of-matches-within-limits/></error></response><response><href>/cal/ada/a.ics</href>\
            <status>HTTP/1.1 507 x</status></response><sync-token>t</sync-token></multistatus>
            """
        let read = try Sync.read(text)
        #expect(read.responses == [MultistatusResponse(href: "/cal/ada/a.ics", status: 507, values: [nil])])
        #expect(read.end.isTruncated && read.end.syncToken == "t")
        #expect(read.end.errors == ["{DAV:}number-of-matches-within-limits"])
    }

    @Test(
        "properties come in the order asked for; those without a success are not told; a status may cover several hrefs"
    )
    func properties() throws {
        let text = """
            <d:multistatus xmlns:d="DAV:" xmlns:c="urn:c"><d:response><d:href>x.ics</d:href>\
            <d:propstat><d:status>HTTP/1.1 200 OK</d:status>\
            <d:prop><c:b>2</c:b><d:other>no</d:other><d:empty/></d:prop></d:propstat>\
            <d:propstat><d:prop><d:a>1</d:a></d:prop><d:status>HTTP/1.1 403 x</d:status>\
            <d:error><c:why/></d:error></d:propstat></d:response><d:response>\
            <d:href>/p</d:href><d:href>/q</d:href><d:status>HTTP/1.1 418 x</d:status></d:response></d:multistatus>
            """
        let none: [String?] = [nil, nil, nil, nil]
        let read = try Sync.read(text, ["{DAV:}a", "{urn:c}b", "{DAV:}empty", "{urn:c}b"])
        #expect(
            read.responses == [
                MultistatusResponse(href: "/cal/ada/x.ics", values: [nil, "2", "", "2"], errors: ["{urn:c}why"]),
                MultistatusResponse(href: "/p", status: 418, values: none),
                MultistatusResponse(href: "/q", status: 418, values: none),
            ])
    }

    @Test("a property's text is its characters, or a line for each innermost element")
    func texts() throws {
        #expect(try Sync.text(" \n W/\"1\" ") == "W/\"1\"")
        #expect(
            try Sync.text("<D:collection/><C:calendar/>") == "{DAV:}collection\n{urn:ietf:params:xml:ns:caldav}calendar"
        )
        #expect(
            try Sync.text("\n<D:href> /cal/a%20b/ </D:href>\n<D:href>/c/</D:href>")
                == "{DAV:}href /cal/a%20b/\n{DAV:}href /c/")
        #expect(
            try Sync.text("<C:comp name=\"VEVENT\"/><C:comp name=\"VTODO\">own</C:comp>")
                == "{urn:ietf:params:xml:ns:caldav}comp VEVENT\n{urn:ietf:params:xml:ns:caldav}comp own")
        #expect(
            try Sync.text("lost<D:supported-report>x<D:report>y<D:sync-collection/></D:report></D:supported-report>")
                == "{DAV:}sync-collection")
        #expect(try Sync.text("<D:a>1\n2</D:a><b xmlns=\"\"/>") == "{DAV:}a 1 2\n{}b")
    }

    @Test("a calendar's object comes with its last line's end")
    func documents() throws {
        let calendar = "BEGIN:VCALENDAR&#13;\nEND:VCALENDAR&#13;\n"
        #expect(
            try Sync.text(calendar, of: "{urn:ietf:params:xml:ns:caldav}calendar-data")
                == "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")
        #expect(try Sync.text(calendar) == "BEGIN:VCALENDAR\r\nEND:VCALENDAR")
    }

    @Test(
        "hrefs are compared in one spelling, whatever they begin with, and lead to no other server",
        arguments: [
            ("/cal/ada/1.ics", "/cal/ada/1.ics"), ("1.ics", "/cal/ada/1.ics"), ("./1.ics", "/cal/ada/1.ics"),
            ("https://h/cal/%61da/1%2eics", "/cal/ada/1.ics"), ("http://inner:8/cal//ada/1.ics", "/cal/ada/1.ics"),
            ("https://h", "/"), ("//cal/a@b/", "/cal/a%40b/"), ("/cal/a%40b/", "/cal/a%40b/"), ("/100%", "/100%25"),
            ("/a%2fb%2F", "/a%2Fb%2F"), ("/%ff%C3%A9é", "/%FF%C3%A9%C3%A9"), ("../bob/", "/cal/bob/"),
            ("/../../x/..", "/"), ("/cal/ada/x%3A//y/1.ics", "/cal/ada/x%3A//y/1.ics"),
            ("/cal//ada//1.ics", "/cal/ada/1.ics"),
            ("/cal/ada/x//", "/cal/ada/x/"), ("/cal/bob//x/1", "/cal/bob/x/1"), ("/a b?c#d", "/a%20b%3Fc%23d"),
            (".", "/cal/ada/"),
        ])
    func hrefs(_ sent: String, _ normal: String) throws {
        let asked = try ServerAddress("https://h/cal/ada/")
        #expect(asked.normalizedPath(of: sent) == normal)
        #expect(asked.normalizedPath(of: normal) == normal)
    }

    @Test("K13: wherever the network cuts an answer it reads the same, and no part from its beginning is an answer")
    func cuts() throws {
        var mutator = Mutator()
        for text in [Sync.sabre, Sync.radicale, MultistatusTests.rich] {
            let bytes = Array(text.utf8)
            let properties = [Sync.etag, "{DAV:}resourcetype", "{http://owncloud.org/ns}owner-id"]
            let whole = try Sync.read([bytes], properties)
            #expect(!whole.responses.isEmpty)
            for _ in 0..<50 {
                let pieces = mutator.cut(bytes)
                #expect(try Sync.read(pieces, properties) == whole, "LARDER_TEST_SEED=\(mutator.seed)")
            }
            for end in bytes.indices {
                #expect(throws: ConnectionError.self, "cut at \(end)") {
                    try Sync.read([Array(bytes[..<end])], properties)
                }
            }
        }
    }

    @Test("K13: 10 MB come response by response, and no more than a piece of it is held")
    func large() throws {
        let reader = try MultistatusReader(AskedProperties([Sync.etag]), asked: ServerAddress("https://h/cal/ada/"))
        func read(_ text: String) throws -> [MultistatusResponse] {
            try Array(text.utf8).withUnsafeBytes { try reader.read($0) }
        }
        let piece = (0..<50).map { number in
            """
            <response><href>/cal/ada/\(number).ics</href><propstat><prop>\
            <getetag>\(String(repeating: "e", count: 300))</getetag>\
            </prop><status>HTTP/1.1 200 OK</status></propstat></response>
            """
        }.joined()
        let pieces = 10_000_000 / piece.utf8.count
        var (count, most) = (0, 0)
        _ = try read("<multistatus xmlns=\"DAV:\">")
        for _ in 0..<pieces {
            let responses = try read(piece)
            count += responses.count
            most = max(most, responses.count)
        }
        count += try read("</multistatus>").count
        _ = try reader.finish()
        #expect(count == pieces * 50 && most <= 51)
    }

    @Test(
        "K13: what would fill the memory or the time is refused while it comes",
        arguments: [
            ("<!--", "long comment "), ("<x a=\"", "long attribute "), ("<response><href>/a</href>", "<a>"),
            ("<response>", "<href>/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</href>"),
            ("<response><href>/a</href><propstat><prop><getetag>", "1234567890"),
            ("<response><href>/a</href><propstat><prop><getetag>", "<aaaaaaaaa/>"),
            ("<response><href>/a</href><propstat><prop>", "<getetag/>"),
            ("<response><href>/a</href><error>", "<aaaaaaaaaaaaaaaa/>"), ("<sync-token>", "1234567890"),
        ])
    func endless(_ beginning: String, _ part: String) throws {
        let reader = try MultistatusReader(
            AskedProperties([Sync.etag]), asked: ServerAddress("https://h/"), mostText: 1 << 20)
        let piece = Array(String(repeating: part, count: 16_384 / part.utf8.count).utf8)
        var sent = 0
        let error = #expect(throws: ConnectionError.self) {
            _ = try Array("<multistatus xmlns=\"DAV:\">\(beginning)".utf8).withUnsafeBytes { try reader.read($0) }
            while sent < 4 << 20 {
                _ = try piece.withUnsafeBytes { try reader.read($0) }
                sent += piece.count
            }
        }
        #expect(error?.kind == .protocolViolation && sent < 2 << 20)
    }

    @Test("K13: entities are not expanded beyond all bounds, and name no file of this machine")
    func entities() throws {
        var text = "<!DOCTYPE d:multistatus [<!ENTITY e0 \"xxxxxxxxxx\">"
        for level in 1...12 {
            text += "<!ENTITY e\(level) \"" + String(repeating: "&e\(level - 1);", count: 10) + "\">"
        }
        text += "]><multistatus xmlns=\"DAV:\"><response><href>/a</href><propstat><prop><getetag>&e12;"
        #expect(throws: ConnectionError.self) { try Sync.read(text) }
        let external = """
            <!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>\
            <multistatus xmlns="DAV:"><sync-token>a&f;b</sync-token></multistatus>
            """
        let error = #expect(throws: ConnectionError.self) { try Sync.read(external) }
        #expect(error?.kind == .protocolViolation && error?.failure.message.contains("DOCTYPE x") == true)
    }

    @Test("names of properties that cannot be asked for are refused; the others are asked for in their own namespace")
    func names() throws {
        for name in ["getetag", "{DAV:}", "{DAV:}a b", "{DAV:}1", "{a\nb}c", "{DAV:}<x>", "", "{DAV:", "{a{b}c"] {
            #expect(throws: AskedProperties.NotAName(text: name)) { try AskedProperties([name]) }
        }
        let asked = try AskedProperties(["{DAV:}getetag", "{urn:a&\"<}b-c.d", "{}e", "{DAV:}getetag"])
        #expect(
            String(decoding: asked.propfind, as: UTF8.self).hasSuffix(
                #"<propfind xmlns="DAV:"><prop><getetag xmlns="DAV:"/><b-c.d xmlns="urn:a&amp;&quot;&lt;"/>"#
                    + #"<e xmlns=""/></prop></propfind>"#
            ))
    }

    @Test(
        "the conditions of an error document are told, of a web page none",
        arguments: [
            (
                """
                <d:error xmlns:d="DAV:" xmlns:s="urn:s"><s:exception>x<d:no/></s:exception>\
                <d:valid-sync-token/></d:error>
                """,
                ["{urn:s}exception", "{DAV:}valid-sync-token"]
            ),
            ("<error xmlns=\"DAV:\"><valid-sync-token/>", ["{DAV:}valid-sync-token"]), ("", []), ("not XML", []),
            ("<html><error xmlns=\"DAV:\"><no/></error></html>", []), ("<error><no/></error>", []),
        ])
    func conditions(_ document: String, _ names: [String]) {
        #expect(DAVErrorReader.conditions(in: Array(document.utf8)) == names)
    }
}
