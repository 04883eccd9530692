import CLarder
import LarderFakeHost
import Testing

/// Tests that the calendar loop asks for contents along with the first listing.
@Suite struct CalendarLoopContentsTests {
    private func account(_ count: Int, bytes: Int = 0) throws -> CalendarAccount {
        let account = try CalendarAccount()
        account.server.givesContents = { $1 }
        let note = String(repeating: "n", count: bytes)
        for number in 0..<count { account.server.put("\(number).ics", note) }
        return account
    }

    private func asksForContents(_ request: PluginFixture.Request) -> Bool { request.body.contains("calendar-data") }

    @Test("K01: a server that gives contents with the first listing is asked once")
    func once() throws {
        let account = try account(300)
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-300")
        #expect(account.kept.first?.version == "\"1\"")
        #expect(account.fixture.requests.count == 1)
        #expect(account.reports.allSatisfy { $0.depth == 0 && !$0.body.contains("limit") })
        #expect(account.fixture.mistakes == [])
    }

    @Test("K12: contents that did not come along, and empty ones, are fetched in batches")
    func some() throws {
        let account = try account(300)
        account.server.givesContents = { $0.hasPrefix("1") ? $1 : $0.hasPrefix("2") ? "" : nil }
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.batches.joined().count == 189 && account.reports.count == 1)
        #expect(!account.batches.joined().contains { $0.hasPrefix("/ada/work/1") })
    }

    @Test("K01: what there is no room for in the first page comes with the next ones")
    func pages() throws {
        let account = try account(600, bytes: 10_000)
        #expect(account.cycle() == 2)
        #expect(account.contents == account.server.truth && account.eventID == "token-600")
        #expect(account.reports.count == 1 && (150...200).contains(account.batches.joined().count))
    }

    @Test("A calendar of which most would come for nothing is listed without contents")
    func tooLarge() throws {
        let account = try account(300, bytes: 100_000)
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-300")
        #expect(account.reports.map(asksForContents) == [true, false])
    }

    @Test(
        "K05: a server that does not want to give contents with a listing is asked without",
        arguments: [400, 403, 405, 413, 415, 500, 501, 504, 507])
    func refused(_ status: UInt32) throws {
        let account = try account(3)
        account.server.contentsStatus = status
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-3")
        #expect(account.reports.map(asksForContents) == [true, false])
    }

    @Test("A server that is busy is not asked again at once", arguments: [429, 503])
    func busy(_ status: UInt32) throws {
        let account = try account(3)
        account.server.contentsStatus = status
        account.cycle()
        #expect(account.kept == [] && account.eventID == nil && account.reports.count == 1)
    }

    @Test("K14: a request for contents that fails is not repeated, unless it took long", arguments: [true, false])
    func failing(_ isSlow: Bool) throws {
        let account = try account(3)
        let fake = account.fixture.fake
        account.server.failsContents = true
        if isSlow {
            account.server.onReport = { _ in larder_fake_time(fake, 20_000 * 86_400_000_000_000, 60_000_000_000) }
        }
        account.cycle()
        #expect(account.reports.map(asksForContents) == (isSlow ? [true, false] : [true]))
        #expect(account.contents == (isSlow ? account.server.truth : [:]))
    }

    @Test("L13: an answer with contents that breaks off keeps nothing of itself, and all is asked for without")
    func broken() throws {
        let account = try account(9)
        let server = account.server
        // An object whose contents had arrived is removed before the second report.
        server.onReport = { [unowned server] in if !$0 { server.remove("0.ics") } }
        larder_fake_fail(account.fixture.fake, "dav_answer.next", 5, LARDER_IO)
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-10")
        #expect(account.reports.map(asksForContents) == [true, false])
        #expect(account.batches.joined().count == 8 && account.fixture.mistakes == [])
    }

    @Test("L13: a call that is to end while contents come asks for nothing more and keeps nothing")
    func cancelled() throws {
        let account = try account(9)
        let fake = account.fixture.fake
        account.server.onReport = { _ in larder_fake_cancel(fake) }
        account.cycle()
        #expect(account.eventID == nil && account.kept == [] && account.reports.count == 1)
        #expect(larder_fake_under_way(fake) == 0)
    }

    @Test("K05: what a later part of a cut listing says of an object goes before what came with the first")
    func parts() throws {
        let account = try account(3)
        let (fake, server) = (account.fixture.fake, account.server)
        larder_fake_answer_dav(fake, "REPORT", account.loop, 207)
        for (name, object) in server.objects.sorted(by: { $0.key < $1.key }) {
            larder_fake_response(fake, server.href(name), 200, nil)
            larder_fake_property(fake, "{DAV:}getetag", object.etag)
            larder_fake_property(fake, "{urn:ietf:params:xml:ns:caldav}calendar-data", object.content)
        }
        larder_fake_end_dav(fake, server.token, 1, nil)
        server.put("0.ics", "changed")
        server.remove("1.ics")
        server.put("3.ics")
        account.cycle()
        #expect(account.contents == server.truth && account.eventID == "token-6")
        #expect(account.batches.map { $0.sorted() } == [["/ada/work/0.ics", "/ada/work/3.ics"]])
    }

    @Test("K07: a calendar of which objects are known is listed without contents")
    func known() throws {
        let account = try account(3)
        account.cycle()
        account.fixture.forget()
        account.server.put("3.ics")
        larder_fake_set_event_id(account.fixture.fake, account.loop, nil)
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.reports.map(asksForContents) == [false] && account.batches == [["/ada/work/3.ics"]])
    }
}
