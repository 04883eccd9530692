import CLarder
import LarderFakeHost
import Testing

/// Tests that the calendar loop continues from page to page.
@Suite struct CalendarLoopPagesTests {
    /// Makes an account with a calendar of three pages.
    private func account() throws -> CalendarAccount {
        let account = try CalendarAccount()
        let note = String(repeating: "n", count: 10_000)
        for number in 0..<1000 { account.server.put("\(number).ics", note) }
        return account
    }

    /// Makes the first page's turn.
    private func begin(_ account: CalendarAccount) {
        account.list()
        account.fixture.poll(account.loop)
        #expect(account.eventID?.hasPrefix("fetch:1:") == true && (400...500).contains(account.kept.count))
    }

    @Test("K12: what is to be fetched is listed once for all pages")
    func once() throws {
        let account = try account()
        #expect(account.cycle() == 3)
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        #expect(account.reports.count == 1 && account.listings == [])
        // A page may end before the loop has read a whole batch.
        #expect(Set(account.batches.joined()).count == 1000 && account.batches.joined().count <= 1000 + 2 * 200)
        account.fixture.forget()
        account.cycle()
        #expect(account.reports.count + account.listings.count <= 1)
    }

    @Test(
        "K02: what changes, goes and comes between two pages is as the server has it in the end",
        arguments: [true, false])
    func changes(_ supportsSync: Bool) throws {
        let account = try account()
        account.server.supportsSync = supportsSync
        begin(account)
        let kept = Set(account.kept.map(\.key))
        let left = account.server.objects.keys.filter { !kept.contains(account.server.href($0)) }.sorted()
        let there = account.server.objects.keys.filter { kept.contains(account.server.href($0)) }.sorted()
        account.server.put(left[0], "changed")
        account.server.remove(left[1])
        account.server.put(there[0], "changed")
        account.server.remove(there[1])
        account.server.put("new.ics")
        account.fixture.pollAll(account.loop)
        account.cycle()
        #expect(account.contents == account.server.truth)
        account.fixture.forget()
        account.cycle()
        #expect(account.batches == [] && account.fixture.mistakes == [])
    }

    @Test("L13: a plugin that starts in the middle lists again and goes on with what is missing")
    func restart() throws {
        let account = try account()
        begin(account)
        account.fixture.stop()
        account.fixture.start("org.larder.calendar-loop")
        account.fixture.forget()
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        #expect(account.listings.count == 1 && account.batches.joined().count < 1000)
    }

    @Test("L13: a page whose commit is lost is fetched again, with all that was left when it began")
    func lost() throws {
        let account = try account()
        begin(account)
        let (id, kept) = (account.eventID, account.kept)
        larder_fake_fail(account.fixture.fake, "commit", 1, LARDER_IO)
        account.fixture.poll(account.loop)
        #expect(account.eventID == id && account.kept == kept)
        account.server.remove("0.ics")
        account.fixture.pollAll(account.loop)
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        #expect(account.listings.count == 1)
    }

    @Test("A broken object of an early page is asked for again with the last one")
    func broken() throws {
        let account = try account()
        account.server.broken = ["/ada/work/0.ics"]
        begin(account)
        account.server.broken = []
        account.fixture.pollAll(account.loop)
        #expect(account.contents == account.server.truth && account.listings == [])
    }

    @Test("Of a calendar with very many objects, so many are kept in mind; the others are listed again")
    func bound() throws {
        let account = try CalendarAccount()
        let note = String(repeating: "n", count: 900)
        for number in 0..<15_000 { account.server.put("\(number).ics", note) }
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        #expect((1...2).contains(account.listings.count) && account.reports.count == 1)
        #expect(account.batches.joined().count < 16_000)
    }
}
