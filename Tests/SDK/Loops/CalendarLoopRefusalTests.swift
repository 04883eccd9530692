import CLarder
import LarderFakeHost
import Testing

/// Tests of the calendar loop with servers that refuse a token, or many objects at once, without saying so.
@Suite struct CalendarLoopRefusalTests {
    @Test(
        "K04: a token that is refused twice without a word about it is outdated, whatever the status",
        arguments: [403, 404, 409, 410, 412, 418, 500, 502])
    func bareRefusal(_ status: UInt32) throws {
        let account = try CalendarAccount()
        for number in 0..<3 { account.server.put("\(number).ics") }
        account.cycle()
        account.fixture.forget()
        account.server.prefix = "new-"
        (account.server.invalidStatus, account.server.invalidError) = (status, nil)
        account.server.put("3.ics")
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "new-4")
        #expect(account.batches == [["/ada/work/3.ics"]] && account.reports.count == 3)
        #expect(account.fixture.failures == [] && account.fixture.mistakes == [])
    }

    @Test("K04: a refusal that was a moment's trouble costs one request more, and no listing")
    func passingRefusal() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.fixture.forget()
        let server = account.server
        server.put("b.ics")
        server.reportStatus = 500
        var reports = 0
        server.onReport = { [unowned server] _ in
            reports += 1
            if reports == 2 { server.reportStatus = nil }
        }
        account.cycle()
        #expect(account.contents == server.truth && account.eventID == "token-2" && reports == 2)
        #expect(!account.fixture.loopCalls.contains { $0.hasPrefix("refresh") })
    }
}
