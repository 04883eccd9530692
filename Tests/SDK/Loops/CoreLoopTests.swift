import CLarder
import LarderFakeHost
import Testing

/// Tests of the core loop with calendar homes, and with servers that offer only some services.
@Suite struct CoreLoopTests {
    @Test("D03, D04: the calendars of all homes become records; what is no calendar of one's own does not")
    func listing() throws {
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/", "/cal/team")
        account.server.calendars = [
            "/cal/ada/work": .init(
                more: [
                    "{urn:ietf:params:xml:ns:caldav}supported-calendar-component-set":
                        "{urn:ietf:params:xml:ns:caldav}comp VEVENT\n{urn:ietf:params:xml:ns:caldav}comp VTODO",
                    "{DAV:}current-user-privilege-set": "{DAV:}read\n{DAV:}write",
                    "{http://apple.com/ns/ical/}calendar-color": "#aa0000",
                    "{http://calendarserver.org/ns/}getctag": "c1",
                ]),
            "/cal/team/all/": .init(name: "", token: ""),
            "/cal/ada/inbox/": .init(
                types:
                    """
                    {DAV:}collection\n{urn:ietf:params:xml:ns:caldav}calendar\n\
                    {urn:ietf:params:xml:ns:caldav}schedule-inbox
                    """
            ),
            "/cal/ada/outbox/": .init(types: "{DAV:}collection\n{urn:ietf:params:xml:ns:caldav}schedule-outbox"),
            "/cal/ada/feed/": .init(
                types: "{urn:ietf:params:xml:ns:caldav}calendar\n{http://calendarserver.org/ns/}subscribed"),
            "/cal/ada/trashbin/": .init(types: "{DAV:}collection\n{http://nextcloud.com/ns}trash-bin"),
            "/cal/ada/old/": .init(more: ["{http://nextcloud.com/ns}deleted-at": "2026-01-01T00:00:00Z"]),
            "/cal/ada/polls/": .init(
                more: [
                    "{urn:ietf:params:xml:ns:caldav}supported-calendar-component-set":
                        "{urn:ietf:params:xml:ns:caldav}comp VPOLL"
                ]),
            "/cal/ada/book/": .init(types: "{DAV:}collection\n{urn:ietf:params:xml:ns:carddav}addressbook"),
        ]
        #expect(account.poll() == LARDER_OK)
        #expect(account.calendars.map(\.key) == ["/cal/ada/work/", "/cal/team/all/"])
        #expect(account.poll() == LARDER_OK)
        #expect(
            account.calendars.first?.value
                == """
                {"name":"Work","href":"/cal/ada/work/","components":["VEVENT","VTODO"],"syncToken":"token-1",\
                "supportsSync":true,"color":"#aa0000","privileges":["read","write"]}
                """
        )
        #expect(
            account.calendars.last?.value
                == #"{"name":"all","href":"/cal/team/all/","components":[],"supportsSync":true,"privileges":[]}"#)
        #expect(account.fixture.mistakes == [])
    }

    @Test("A calendar's token is asked for when it is known, and its ctag as long as a token is missing")
    func whatTells() throws {
        let ctag = ["{http://calendarserver.org/ns/}getctag": "c1"]
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/")
        account.server.calendars = ["/cal/ada/a/": .init(more: ctag), "/cal/ada/b/": .init(token: "", more: ctag)]
        func marks() -> [String] {
            account.poll()
            return account.calendars.map { record in
                let names = ["syncToken", "ctag"].filter { record.value.contains("\"\($0)\":\"") }
                return "\(record.version) \(names.joined(separator: " "))"
            }
        }
        #expect(marks() == [" ", " "])
        #expect(marks() == ["token-1 syncToken", "c1 ctag"])
        #expect(marks() == ["token-1 syncToken", "c1 ctag"])
        account.server.calendars["/cal/ada/b/"]?.token = "token-2"
        #expect(marks() == ["token-1 syncToken", "token-2 syncToken"])
        account.fixture.forget()
        // The loop no longer uses this calendar's ctag.
        account.server.calendars["/cal/ada/b/"]?.more = ["{http://calendarserver.org/ns/}getctag": "c2"]
        #expect(marks() == ["token-1 syncToken", "token-2 syncToken"])
        #expect(account.fixture.recordsAsked == [])
    }

    @Test("D05: a new, a renamed and a removed calendar are seen by the next poll")
    func diff() throws {
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/")
        account.server.calendars = ["/cal/ada/a/": .init(), "/cal/ada/b/": .init()]
        account.poll()
        // The tokens of known calendars come with the next poll.
        account.poll()
        let first = account.fixture.eventID(of: "core")
        account.fixture.forget()
        account.poll()
        #expect(account.fixture.recordsAsked == [] && account.fixture.eventID(of: "core") == first)
        account.server.calendars = ["/cal/ada/a/": .init(name: "Renamed"), "/cal/ada/c/": .init()]
        // Removed calendars have a page of their own, after the page with the new ones.
        #expect(account.fixture.pollAll("core") == 2)
        #expect(
            account.fixture.recordsAsked
                == ["put calendars /cal/ada/a/", "put calendars /cal/ada/c/", "remove calendars /cal/ada/b/"])
        #expect(account.fixture.eventID(of: "core") != first)
        #expect(!account.asked.contains { $0.contains("discover") }, "the homes are known for a day")
        account.setDay(1)
        account.poll()
        #expect(account.asked.contains("discover caldav"))
    }

    @Test("D05: a listing that fails, is cut off or not of the home removes nothing")
    func failedListing() throws {
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/", "/cal/team/")
        account.server.calendars = ["/cal/ada/a/": .init(), "/cal/team/b/": .init()]
        account.poll()
        account.server.calendars["/cal/ada/a/"] = nil
        for (status, expected) in [(500, LARDER_IO), (403, LARDER_DENIED), (404, LARDER_IO), (200, LARDER_IO)] {
            account.server.homeStatus = ["/cal/team/": UInt32(status)]
            #expect(account.poll() == expected)
        }
        account.server.homeStatus = [:]
        account.server.hidesHome = true
        #expect(account.poll() == LARDER_IO)
        account.server.hidesHome = false
        account.server.breaksListing = true
        #expect(account.poll() == LARDER_IO)
        account.server.breaksListing = false
        larder_fake_homes(account.fixture.fake, nil, nil, 0)
        account.setDay(1)
        #expect(account.poll() == LARDER_IO, "calendars that were there are not believed to be offered no more")
        #expect(account.calendars.count == 2)
        account.server.setHomes("/cal/ada/", "/cal/team/")
        account.fixture.pollAll("core")
        #expect(account.calendars.map(\.key) == ["/cal/team/b/"])
    }

    @Test("D03: a home that moved is found again in the same poll; a calendar with an error of its own stays")
    func movedHome() throws {
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/")
        account.server.calendars = ["/cal/ada/a/": .init(), "/cal/ada/b/": .init()]
        account.poll()
        account.server.calendars = ["/new/ada/a/": .init()]
        account.server.homeStatus = ["/cal/ada/": 404]
        account.server.setHomes("/new/ada/")
        account.fixture.pollAll("core")
        #expect(account.calendars.map(\.key) == ["/new/ada/a/"])
        account.server.calendars["/new/ada/a/"]?.status = 500
        #expect(account.poll() == LARDER_OK && account.calendars.map(\.key) == ["/new/ada/a/"])
    }

    @Test("L33: a server with neither calendars nor OCS has nothing to poll, and is asked again a day later")
    func nothing() throws {
        let account = try CoreAccount()
        account.server.hasOCS = false
        #expect(account.poll() == LARDER_UNSUPPORTED)
        #expect(
            account.asked == ["discover caldav", "GET cloud/capabilities?format=json", "GET cloud/user?format=json"])
        account.fixture.forget()
        #expect(account.poll() == LARDER_UNSUPPORTED && account.asked == [])
        account.setDay(1)
        account.server.hasOCS = true
        #expect(account.poll() == LARDER_OK)
        #expect(
            account.fixture.record("account", in: "account")?.value.hasPrefix(
                #"{"id":"ada","displayName":"Ada","capabilities":""#) == true)
        #expect(
            account.fixture.record("account", in: "account")?.value.hasSuffix(#""quotaUsed":10,"quotaAvailable":90}"#)
                == true)
    }

    @Test("L33: where a proxy stands in the way of discovery nothing is offered for now, and the next poll asks again")
    func passing() throws {
        let account = try CoreAccount()
        account.server.hasOCS = false
        larder_fake_fail(account.fixture.fake, "discover.find", 1, LARDER_NOT_FOUND)
        #expect(account.poll() == LARDER_OK && account.calendars.isEmpty)
        account.server.setHomes("/cal/ada/")
        account.server.calendars = ["/cal/ada/a/": .init()]
        #expect(account.poll() == LARDER_OK && account.calendars.count == 1)
        // The known calendars stay.
        account.setDay(1)
        larder_fake_fail(account.fixture.fake, "discover.find", 1, LARDER_NOT_FOUND)
        #expect(account.poll() == LARDER_OK && account.calendars.count == 1)
    }

    @Test("L09: a source that fails does not keep the others from being listed, and the poll fails after that")
    func oneFails() throws {
        let account = try CoreAccount()
        account.server.setHomes("/cal/ada/")
        account.server.calendars = ["/cal/ada/a/": .init()]
        account.server.answers["cloud/user?format=json"] = (500, "oh")
        // The second poll has the token of the calendar, which is known by then.
        #expect(account.fixture.pollAll("core") == 3)
        #expect(account.calendars.count == 1)
        #expect(account.fixture.failures.last == "the server answered 500 without JSON for cloud/user")
        account.server.homeStatus = ["/cal/ada/": 500]
        account.server.answers = [:]
        account.server.byMe = [#"{"id":1,"share_type":0,"path":"/x"}"#]
        account.fixture.pollAll("core")
        #expect(account.shares.count == 1 && account.calendars.count == 1)
        #expect(account.poll() == LARDER_IO)
        larder_fake_fail(account.fixture.fake, "dav.open", 1, LARDER_CANCELLED)
        #expect(account.poll() == LARDER_CANCELLED)
    }

    @Test("The quota is asked of the files where OCS does not tell, or taken from the calendar home")
    func quota() throws {
        let account = try CoreAccount()
        account.server.user = #"{"id":"a b","display-name":"Ada"}"#
        larder_fake_answer_dav(account.fixture.fake, "PROPFIND", "/remote.php/dav/files/a%20b/", 207)
        larder_fake_response(account.fixture.fake, "/remote.php/dav/files/a%20b/", 200, nil)
        larder_fake_property(account.fixture.fake, "{DAV:}quota-used-bytes", "7")
        larder_fake_property(account.fixture.fake, "{DAV:}quota-available-bytes", "-3")
        account.poll()
        #expect(account.fixture.record("account", in: "account")?.value.hasSuffix(#""quotaUsed":7}"#) == true)
    }
}
