import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct CalendarTests {
    @Test("from the well-known address to the calendars in four steps", arguments: [301, 302, 303, 307, 308])
    func discovery(_ status: Int) async throws {
        try await TestServer.running { server async throws in
            server.behave { $0.calendars.wellKnownStatus = status }
            server.calendars.make("work", name: "Work & more")
            server.calendars.make("team", components: ["VEVENT"], home: "office", readOnly: true)
            let client = CalendarClient(server)
            let redirect = try await client("PROPFIND", "/.well-known/caldav")
            #expect(redirect.status == status && redirect.fields["location"] == "/remote.php/dav/")
            let root = try await client.find("/remote.php/dav/", "<current-user-principal/><C:calendar-home-set/>")
            let principal = try #require(root.body.contents(of: "d:href").last)
            #expect(principal == "/remote.php/dav/principals/users/demo/")
            #expect(root.body.contains("<cal:calendar-home-set/></d:prop><d:status>HTTP/1.1 404 Not Found"))
            let homes = try await client.find(principal, "<C:calendar-home-set/>").body.contents(of: "d:href")
                .dropFirst()
            #expect(homes == ["/remote.php/dav/calendars/demo/", "/remote.php/dav/calendars/office/"])
            let names = "<resourcetype/><displayname/><sync-token/><S:getctag/><C:supported-calendar-component-set/>"
            let own = try await client.find("/remote.php/dav/calendars/demo/", depth: 1, names).body
            #expect(own.contents(of: "d:displayname") == ["Work &amp; more", "Football", "Garden"])
            #expect(own.contents(of: "d:sync-token") == ["http://sabre.io/ns/sync/1"])
            let types = own.contents(of: "d:resourcetype")
            #expect(types[0] == "<d:collection/>" && types[1] == "<d:collection/><cal:calendar/>")
            #expect(
                types[2...].map { $0.split(separator: "/>").last } == [
                    "<cal:schedule-inbox", "<cal:schedule-outbox", "<cs:subscribed", "<nc:deleted-calendar",
                    "<nc:trash-bin",
                ])
            let other = try await client.find(
                "/remote.php/dav/calendars/office/", depth: 1,
                names + "<current-user-privilege-set/><supported-report-set/>"
            ).body
            #expect(other.contents(of: "cal:supported-calendar-component-set") == [#"<cal:comp name="VEVENT"/>"#])
            #expect(other.contents(of: "d:privilege") == ["<d:read/>"])
            #expect(other.contents(of: "d:report") == ["<cal:calendar-multiget/>", "<d:sync-collection/>"])
        }
    }

    @Test("a server that has no calendars says so everywhere")
    func notOffered() async throws {
        try await TestServer.running { server async throws in
            server.behave { $0.calendars.offered = false }
            server.calendars.make("work")
            let client = CalendarClient(server)
            for path in ["/.well-known/caldav", "/remote.php/dav/", server.calendars.path("work")] {
                #expect(try await client("PROPFIND", path).status == 404)
            }
        }
    }

    @Test("addresses are paths, whole, or relative; prefixes are what the manner says")
    func forms() async throws {
        try await TestServer.running { server async throws in
            let client = CalendarClient(server)
            func home() async throws -> Client.Reply {
                try await client.find("/remote.php/dav/principals/users/demo/", "<C:calendar-home-set/>")
            }
            server.behave { $0.calendars.addresses = .whole }
            #expect(try await home().body.contents(of: "d:href").last == "\(server.url)/remote.php/dav/calendars/demo/")
            server.behave { $0.calendars.addresses = .relative }
            #expect(
                try await home().body.contents(of: "d:href").last == "../../../../../remote.php/dav/calendars/demo/")
            server.behave { $0.calendars.prefixes = .none }
            #expect(try await home().body.contains("<C:calendar-home-set><href>"))
            server.behave { $0.calendars.prefixes = .numbered }
            #expect(try await home().body.contains("<ns1:calendar-home-set><ns0:href>"))
        }
    }

    @Test("calendars and objects are written, read, renamed and removed as CalDAV says")
    func writing() async throws {
        try await TestServer.running { server async throws in
            let client = CalendarClient(server)
            let path = server.calendars.path("new")
            let made = try await client(
                "MKCALENDAR", path,
                body: """
                    <C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>\
                    <D:displayname>a &lt; b</D:displayname><C:supported-calendar-component-set><C:comp name='VTODO'/>\
                    </C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>
                    """)
            #expect(made.status == 201 && server.calendars.ids == ["new"])
            #expect(try await client("MKCALENDAR", path).status == 405)
            let listed = try await client.find(path, "<displayname/><C:supported-calendar-component-set/>").body
            #expect(listed.contents(of: "d:displayname") == ["a &lt; b"] && listed.contains(#"name="VTODO""#))
            let renaming = #"""
                <propertyupdate xmlns="DAV:"><set><prop><displayname>c</displayname></prop></set></propertyupdate>
                """#
            #expect(try await client("PROPPATCH", path, body: renaming).status == 207)
            #expect(try await client.find(path, "<displayname/>").body.contents(of: "d:displayname") == ["c"])

            let object = server.calendars.path("new", "ä b.ics")
            #expect(object == path + "%c3%a4%20b.ics")
            let put = try await client("PUT", object, ["If-None-Match: *"], body: event("a"))
            let etag = try #require(put.fields["etag"])
            #expect(put.status == 201 && server.calendars.objects(in: "new") == ["ä b.ics": event("a")])
            #expect(try await client("PUT", object, ["If-None-Match: *"], body: event("b")).status == 412)
            #expect(try await client("PUT", object, ["If-Match: \"other\""], body: event("b")).status == 412)
            #expect(try await client("PUT", object, body: "no calendar").status == 415)
            #expect(try await client("PUT", server.calendars.path("none", "a.ics"), body: event("b")).status == 409)
            let got = try await client("GET", object)
            #expect(got.body == event("a") && got.fields["etag"] == etag)
            #expect(try await client("GET", object, ["If-None-Match: \(etag)"]).status == 304)
            #expect(try await client("DELETE", object, ["If-Match: \"other\""]).status == 412)
            #expect(try await client("DELETE", object, ["If-Match: \(etag)"]).status == 204)
            #expect(try await client("GET", object).status == 404)
            #expect(try await client("DELETE", path).status == 204)
            #expect(server.calendars.ids.isEmpty)
            server.calendars.make("read", readOnly: true)
            #expect(try await client("PUT", server.calendars.path("read", "a.ics"), body: event("a")).status == 403)
        }
    }

    @Test("multiget gives what is there, and 404 for the rest")
    func multiget() async throws {
        try await TestServer.running { server async throws in
            server.calendars.make("work")
            server.calendars.put(["a.ics": event("a"), "../b.ics": event("b & c")], in: "work")
            let client = CalendarClient(server)
            let path = server.calendars.path("work")
            let reply = try await client(
                "REPORT", path,
                body: """
                    <C:calendar-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/>\
                    <C:calendar-data/></prop><href>\(server.url)\(path)a.ics</href><href>\(path)%2E%2E%2fb.ics</href>\
                    <href>\(path)none.ics</href></C:calendar-multiget>
                    """)
            #expect(reply.status == 207 && reply.members == ["a.ics", "..%2fb.ics", "none.ics 404"])
            #expect(
                reply.body.contents(of: "cal:calendar-data").map { $0.replacing("&#13;", with: "\r") } == [
                    event("a"), event("b &amp; c"),
                ])
            #expect(server.requests.last?.body?.contains("<C:calendar-multiget") == true)
        }
    }
}
