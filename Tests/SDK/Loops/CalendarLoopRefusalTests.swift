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

    @Test(
        "K12: of a server that refuses many at once fewer are asked for, not each alone",
        arguments: [0, 400, 403, 404, 410, 413, 500, 502, 504, 507])
    func tooMany(_ status: UInt32) throws {
        let account = try CalendarAccount()
        (account.server.mostAtOnce, account.server.tooManyStatus) = (20, status == 0 ? 207 : status)
        account.server.closesWhenTooMany = status == 0
        for number in 0..<150 { account.server.put("\(number).ics") }
        account.cycle()
        #expect(account.contents == account.server.truth && account.batches.count < 20)
        #expect(!account.fixture.requests.contains { $0.method == "GET" } && account.fixture.mistakes == [])
    }

    @Test("K12: an object with which each request fails is fetched by itself, and costs the others little")
    func crashing() throws {
        let account = try CalendarAccount()
        account.server.tooManyStatus = 500
        account.server.crashing = ["/ada/work/77.ics"]
        for number in 0..<150 { account.server.put("\(number).ics") }
        account.cycle()
        #expect(account.contents == account.server.truth && account.batches.count < 20)
        #expect(account.fixture.requests.filter { $0.method == "GET" }.map(\.target) == ["/ada/work/77.ics"])
    }

    @Test("K12: an object that comes without its content is fetched by itself")
    func empty() throws {
        let account = try CalendarAccount()
        account.server.empty = ["/ada/work/7.ics", "/ada/work/9.ics"]
        for number in 0..<30 { account.server.put("\(number).ics") }
        account.cycle()
        #expect(account.contents == account.server.truth && account.batches.count == 1)
        #expect(
            Set(account.fixture.requests.filter { $0.method == "GET" }.map(\.target)) == account.server.empty)
    }

    @Test("K12: a calendar that goes while its objects are fetched is no removal of its objects")
    func goesMeanwhile() throws {
        let account = try CalendarAccount()
        for number in 0..<250 { account.server.put("\(number).ics") }
        account.cycle()
        let before = account.contents
        for number in 0..<250 { account.server.put("\(number).ics", "changed") }
        let first = account.batches.count
        account.server.onMultiget = { [unowned server = account.server] in server.isGone = $0 > first + 1 }
        account.cycle()
        #expect(account.contents.count == before.count && !account.fixture.failures.isEmpty)
    }

    @Test("K11: where objects have no ETags, a changed ctag has them fetched again")
    func hiddenChange() throws {
        let account = try CalendarAccount()
        (account.server.supportsSync, account.server.hidesETags) = (false, true)
        account.server.put("a.ics")
        account.server.put("b.ics")
        account.cycle()
        account.server.put("b.ics", "changed")
        account.cycle()
        #expect(account.contents == account.server.truth)
        account.fixture.forget()
        account.cycle()
        #expect(account.batches.isEmpty)
    }

    @Test("K12: a server that gives no object in any way is an error after few requests")
    func nothing() throws {
        let account = try CalendarAccount()
        (account.server.mostAtOnce, account.server.tooManyStatus) = (0, 500)
        for number in 0..<150 { account.server.put("\(number).ics") }
        account.server.failingGets = Set((0..<150).map { "/ada/work/\($0).ics" })
        account.cycle()
        #expect(account.kept == [] && account.eventID == nil && account.fixture.requests.count < 20)
        #expect(account.fixture.failures.last?.contains("errors or unreadable data") == true)
    }

    @Test("K01, K02: what is no collection is an object, also with slashes in its name; a collection is none")
    func slashes() throws {
        let account = try CalendarAccount()
        let name = "x-apple-reminderkit%3A//REMCDReminder/0C2F.ics"
        account.server.collections = ["sub"]
        account.server.put("a.ics")
        account.server.put(name)
        account.cycle()
        #expect(account.contents == account.server.truth && account.kept.count == 2)
        account.server.put(name, "changed")
        account.cycle()
        #expect(account.contents == account.server.truth)
        account.server.remove(name)
        account.cycle()
        #expect(account.contents == account.server.truth && account.kept.count == 1)
        // A server without tokens lists it, too.
        account.server.put(name)
        account.server.supportsSync = false
        larder_fake_set_event_id(account.fixture.fake, account.loop, nil)
        account.cycle()
        #expect(account.contents == account.server.truth && account.kept.count == 2)
    }

    @Test(
        "An object whose address ends in a slash is not kept, and is named once for each listing",
        arguments: [true, false])
    func closingSlash(supportsSync: Bool) throws {
        let account = try CalendarAccount()
        account.server.supportsSync = supportsSync
        account.server.collections = ["sub/"]
        account.server.put("a.ics")
        account.server.put("b.ics/")
        account.server.put("c.ics/")
        account.cycle()
        #expect(account.kept.map(\.key) == ["/ada/work/a.ics"])
        func named() -> [String] { account.fixture.logLines.filter { $0.contains("cannot be kept") } }
        let said =
            "2 objects of the calendar /ada/work/ cannot be kept, since the address ends in a slash or is longer than "
            + "4096 bytes: /ada/work/b.ics/, …"
        #expect(Set(named()).isSubset(of: [said, said.replacing("b.ics", with: "c.ics")]) && named().count == 1)
    }
}
