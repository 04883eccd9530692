import CLarder
import LarderFakeHost
import Testing

/// Tests that the calendar loop keeps a server busy while the loop reads answers.
@Suite struct CalendarLoopAheadTests {
    /// Makes an account whose calendar has a known token and one known object, and then ten batches of new objects.
    private func account(new: Int = 1000) throws -> CalendarAccount {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        account.fixture.forget()
        for number in 0..<new { account.server.put("\(number).ics") }
        return account
    }

    @Test("K12: once the server has answered a batch, the next is asked for before one is read, two at most at a time")
    func oneAhead() throws {
        let account = try account()
        account.cycle()
        #expect(account.contents == account.server.truth)
        // The first object came in a batch of its own.
        #expect(account.server.underWay == [0, 0, 0] + Array(repeating: 1, count: 8))
        #expect(Set(account.batches.joined()).count == 1000 && account.batches.joined().count == 1000)
        #expect(account.fixture.mistakes == [])
    }

    @Test("K12: a server that takes one request at a time is asked so")
    func oneAtATime() throws {
        let account = try account()
        account.server.takesOneAtATime = true
        account.cycle()
        #expect(account.contents == account.server.truth)
        // The server rejected two requests. The loop repeats them, and sends all others after them.
        #expect(account.server.underWay == [0, 0, 0, 1, 1] + Array(repeating: 0, count: 8))
        #expect(account.fixture.mistakes == [])
    }

    @Test("L13: when the server goes away in the middle, nothing of the turn is kept, and the next one has it all")
    func failure() throws {
        let account = try account()
        let (id, kept) = (account.eventID, account.kept)
        account.server.failing = Set(4..<100)
        account.cycle()
        #expect(account.eventID == id && account.kept == kept)
        #expect(larder_fake_under_way(account.fixture.fake) == 0)
        account.server.failing = []
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.fixture.mistakes == [])
    }

    @Test("L13: a call that is to end while two requests are under way leaves none open and keeps nothing")
    func cancelled() throws {
        let account = try account()
        let (id, kept) = (account.eventID, account.kept)
        let fake = account.fixture.fake
        account.server.onMultiget = { if $0 == 5 { larder_fake_cancel(fake) } }
        account.cycle()
        #expect(account.eventID == id && account.kept == kept)
        #expect(larder_fake_under_way(fake) == 0)
        #expect(account.server.underWay.count == 6)
    }

    @Test("A server without multiget is asked for one batch, and none ahead")
    func noMultiget() throws {
        let account = try account(new: 250)
        account.server.supportsMultiget = false
        account.cycle()
        #expect(account.contents == account.server.truth && account.batches.count == 1)
    }
}
