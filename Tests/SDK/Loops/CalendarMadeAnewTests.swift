import CLarder
import LarderFakeHost
import Testing

/// Tests of a calendar that was deleted and made anew at the same path between two polls.
@Suite struct CalendarMadeAnewTests {
    private func account(_ prefix: String) throws -> CalendarAccount {
        let account = try CalendarAccount()
        account.server.prefix = prefix
        for name in ["a", "b", "c"] { account.server.put("\(name).ics") }
        return account
    }

    private func restart(_ account: CalendarAccount) {
        account.fixture.stop()
        account.fixture.start("org.larder.calendar-loop")
    }

    @Test(
        "It is listed anew, though its token is a number that is known, higher or lower",
        arguments: [3, 5, 2], [true, false])
    func numbers(_ count: Int, _ echoes: Bool) throws {
        for prefix in ["http://sabre.io/ns/sync/", ""] {
            let account = try account(prefix)
            if echoes { account.server.invalidStatus = nil }
            account.cycle()
            restart(account)
            account.server.makeAnew()
            for number in 0..<count { account.server.put("\(number).ics") }
            for _ in 0..<3 { account.cycle() }
            #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        }
    }

    @Test("What tells calendars apart at one place is believed, and spares the listing")
    func identity() throws {
        let account = try account("http://sabre.io/ns/sync/")
        account.cycle(identity: "urn:uuid:one")
        restart(account)
        account.fixture.forget()
        account.cycle(identity: "urn:uuid:one")
        #expect(account.listings == [] && account.reports.count == 1)
        account.server.makeAnew()
        for name in ["x", "y", "z"] { account.server.put("\(name).ics") }
        account.cycle(identity: "urn:uuid:two")
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        account.fixture.forget()
        account.cycle(identity: "urn:uuid:two")
        #expect(account.fixture.requests == [])
    }

    @Test("Where it may be another one, a start costs a listing in place of a report; one that is watched costs none")
    func cost() throws {
        let account = try account("http://sabre.io/ns/sync/")
        account.cycle()
        restart(account)
        account.fixture.forget()
        account.cycle()
        #expect(account.listings.count == 1 && account.reports == [] && account.batches == [])
        account.fixture.forget()
        account.server.put("d.ics")
        account.cycle()
        #expect(account.listings == [] && account.reports.count == 1)
        #expect(account.contents == account.server.truth)
        // A server with tokens of this form never gives the same token twice.
        let other = try self.account("http://radicale.org/ns/sync/5bafa61850d3aab8865d9f9215668b243c33x")
        other.cycle()
        restart(other)
        other.fixture.forget()
        other.cycle()
        #expect(other.listings == [] && other.reports.count == 1)
    }
}
