import CLarder
import LarderFakeHost
import Testing

/// Tests of the calendar loop's requests to a server that follows the standards.
@Suite struct CalendarLoopTests {
    @Test("K01: the first turn lists all members with an empty token, and keeps the token")
    func initial() throws {
        let account = try CalendarAccount()
        for name in ["a.ics", "b.ics", "c%20d.ics"] { account.server.put(name, "Löschen, \(name)") }
        #expect(account.cycle() == 1)
        #expect(account.eventID == "token-3")
        #expect(account.contents == account.server.truth)
        #expect(
            account.kept.first?.value
                == #"{"uid":"a.ics","component":"VEVENT","summary":"Löschen, a.ics","start":"2026-03-01T10:00:00Z"}"#)
        #expect(account.kept.first?.version == "\"1\"")
        #expect(
            account.reports.map(\.body).first?.contains("<sync-token></sync-token><sync-level>1</sync-level>") == true)
        #expect(account.fixture.loopCalls.map { $0.prefix { $0 != " " } } == ["on_error", "refresh", "release_page"])
        #expect(account.fixture.mistakes == [])
    }

    @Test("K01: an empty calendar has a token and no objects")
    func empty() throws {
        let account = try CalendarAccount()
        account.cycle()
        #expect(account.eventID == "token-0" && account.kept == [])
        account.server.put("a.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
    }

    @Test("K02: what is created, changed and deleted is stored once; what is gone and unknown is no change")
    func delta() throws {
        let account = try CalendarAccount()
        for name in ["a.ics", "b.ics", "c.ics"] { account.server.put(name) }
        account.cycle()
        account.fixture.forget()
        account.server.put("a.ics", "changed")
        account.server.remove("b.ics")
        account.server.put("d.ics")
        account.server.put("e.ics")
        account.server.remove("e.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(
            Set(account.fixture.recordsAsked)
                == ["remove b.ics", "put a.ics", "put d.ics"].reduce(into: []) { asked, line in
                    let parts = line.split(separator: " ")
                    asked.insert("\(parts[0]) calendars//ada/work/ /ada/work/\(parts[1])")
                })
        account.fixture.forget()
        account.cycle()
        #expect(account.fixture.recordsAsked == [] && account.eventID == "token-8")
    }

    @Test("K02: an object whose ETag is the local one is not fetched again, however the server quotes it")
    func sameETag() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.fixture.forget()
        larder_fake_answer_dav(account.fixture.fake, "REPORT", account.loop, 207)
        larder_fake_response(account.fixture.fake, "/ada/work/a.ics", 200, nil)
        larder_fake_property(account.fixture.fake, "{DAV:}getetag", "W/\"1-gzip\"")
        larder_fake_response(account.fixture.fake, "/ada/work/", 200, nil)
        larder_fake_response(account.fixture.fake, "/ada/elsewhere/x.ics", 200, nil)
        larder_fake_end_dav(account.fixture.fake, "token-again", 0, nil)
        account.fixture.poll(account.loop)
        #expect(account.batches == [] && account.fixture.recordsAsked == [] && account.eventID == "token-again")
    }

    @Test(
        "K03: tokens come back byte by byte, escaped for XML and with no blank around them",
        arguments: [
            "http://x.example/sync/", "e5c1", "\"quoted\"", "a&b<c>]]>", "fetch:1:", "list:x:", "stall:", "sync:", " ",
            "ä\u{308}",
        ])
    func opacity(_ prefix: String) throws {
        let account = try CalendarAccount()
        account.server.prefix = prefix
        account.server.put("a.ics")
        account.cycle()
        account.server.put("b.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
        account.server.remove("a.ics")
        account.fixture.forget()
        account.cycle()
        #expect(account.contents == account.server.truth)
        let escaped = prefix.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
            .split(separator: "<", omittingEmptySubsequences: false).joined(separator: "&lt;")
            .split(separator: ">", omittingEmptySubsequences: false).joined(separator: "&gt;")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
        #expect(account.reports.first?.body.contains("<sync-token>\(escaped)2</sync-token>") == true)
        #expect(account.listings == [], "the token was taken for another kind of event id")
    }

    @Test("K06: no request has a limit")
    func noLimit() throws {
        let account = try CalendarAccount()
        for number in 0..<250 { account.server.put("\(number).ics") }
        account.cycle()
        account.server.put("a.ics")
        account.cycle()
        #expect(account.reports.count == 2 && account.reports.allSatisfy { !$0.body.contains("limit") })
        #expect(account.reports.allSatisfy { $0.depth == 0 })
    }

    @Test("K12: a thousand changes come in batches of at most a hundred; one that is gone meanwhile is deleted")
    func batches() throws {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        account.fixture.forget()
        for number in 0..<1000 { account.server.put("\(number).ics") }
        // The object is listed, and gone when the loop fetches it.
        larder_fake_answer_dav(account.fixture.fake, "REPORT", account.loop, 207)
        for name in account.server.objects.keys.sorted() + ["ghost.ics"] {
            larder_fake_response(account.fixture.fake, account.server.href(name), 200, nil)
            larder_fake_property(account.fixture.fake, "{DAV:}getetag", "\"listed\"")
        }
        larder_fake_end_dav(account.fixture.fake, account.server.token, 0, nil)
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.batches.count == 11 && account.batches.allSatisfy { $0.count <= 100 })
        #expect(account.batches.joined().contains("/ada/work/ghost.ics"))
    }

    @Test("K12: without multiget, objects are fetched one by one")
    func noMultiget() throws {
        let account = try CalendarAccount()
        account.server.supportsMultiget = false
        for number in 0..<5 { account.server.put("\(number).ics") }
        account.cycle()
        #expect(account.contents == account.server.truth && account.batches.count == 1)
        #expect(account.fixture.requests.filter { $0.method == "GET" }.count == 5)
    }

    @Test("A calendar that the core loop lists with the known token is not asked, but now and then")
    func precheck() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.cycle()
        account.fixture.forget()
        for _ in 0..<5 { account.cycle() }
        larder_fake_time(account.fixture.fake, 20_000 * 86_400_000_000_000, 450_000_000_000)
        account.cycle()
        #expect(account.fixture.requests == [])
        larder_fake_time(account.fixture.fake, 20_000 * 86_400_000_000_000, 901_000_000_000)
        account.cycle()
        #expect(account.reports.count == 1)
    }
}
