import CLarder
import LarderFakeHost
import TestSupport
import Testing

/// Tests of the calendar loop with servers that do not follow the standards, and with interrupted turns.
@Suite struct CalendarLoopTroubleTests {
    @Test(
        "K04: a token that the server refuses is a refresh, and costs no download",
        arguments: [400, 403, 409, 410, 412])
    func invalidToken(_ status: UInt32) throws {
        let account = try CalendarAccount()
        for number in 0..<3 { account.server.put("\(number).ics") }
        account.cycle()
        account.fixture.forget()
        account.server.prefix = "new-"
        account.server.invalidStatus = status
        account.server.put("3.ics")
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "new-4")
        #expect(account.fixture.loopCalls.contains("refresh /ada/work/ \(LARDER_REFRESH_EVERYTHING)"))
        #expect(account.batches == [["/ada/work/3.ics"]])
    }

    @Test("K04: a bare 403 is a permission that is missing, and nothing changes")
    func forbidden() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.server.reportStatus = 403
        #expect(account.fixture.poll(account.loop) == LARDER_DENIED)
        #expect(account.eventID == "token-1" && account.kept.count == 1)
        #expect(
            account.fixture.failures.last?.contains("does not let this account read the calendar /ada/work/") == true)
    }

    @Test("K14: an answer that the host keeps to itself, and a server's error, fail the turn after one request")
    func errors() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.fixture.forget()
        larder_fake_fail(account.fixture.fake, "dav.open", 1, LARDER_IO)
        #expect(account.fixture.poll(account.loop) == LARDER_IO)
        #expect(account.fixture.requests == [])
        account.server.put("b.ics")
        for (status, expected) in [(500, LARDER_IO), (404, LARDER_NOT_FOUND), (410, LARDER_NOT_FOUND)] {
            account.server.reportStatus = UInt32(status)
            account.list()
            #expect(account.fixture.poll(account.loop) == expected)
        }
        account.server.reportStatus = nil
        account.server.breaksAnswers = true
        #expect(account.fixture.poll(account.loop) == LARDER_IO)
        #expect(account.eventID == "token-1" && account.kept.count == 1)
        account.server.breaksAnswers = false
        account.cycle()
        #expect(account.contents == account.server.truth)
    }

    @Test("K05: a report that is cut off goes on from its own token, page by page")
    func truncation() throws {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        account.fixture.forget()
        account.server.pageSize = 10
        for number in 0..<35 { account.server.put("\(number).ics") }
        #expect(account.cycle() == 4)
        #expect(account.contents == account.server.truth && account.eventID == "token-36")
        #expect(account.reports.map { $0.body.contains(">token-11<") } == [false, true, false, false])
    }

    @Test("K05: 507 for the whole report means that the calendar is listed")
    func tooLarge() throws {
        let account = try CalendarAccount()
        account.server.reportStatus = 507
        account.server.put("a.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
        account.server.put("b.ics")
        account.server.remove("a.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.reports.filter { !$0.body.contains("calendar-data") }.count == 1)
        // A day later the loop asks the server again.
        account.server.reportStatus = nil
        account.setDay(1)
        account.cycle()
        #expect(account.eventID == "token-3")
    }

    @Test("K07: a refresh fetches what differs and leaves alone what does not")
    func refresh() throws {
        let account = try CalendarAccount()
        for number in 0..<10 { account.server.put("\(number).ics") }
        account.cycle()
        account.fixture.forget()
        account.server.put("3.ics", "changed")
        account.server.remove("4.ics")
        larder_fake_set_event_id(account.fixture.fake, account.loop, nil)
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.fixture.recordsAsked.count == 2 && account.batches == [["/ada/work/3.ics"]])
    }

    @Test("K08: with a token of the future, a change is seen within three cycles", arguments: [true, false])
    func stall(_ isRestored: Bool) throws {
        let account = try CalendarAccount()
        account.server.invalidStatus = nil
        for number in 0..<10 { account.server.put("\(number).ics") }
        account.cycle()
        if isRestored { account.server.forgetChanges(after: 5) } else { account.server.prefix = "other-" }
        account.server.put("new.ics")
        for _ in 0..<3 { account.cycle() }
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        account.fixture.forget()
        account.cycle()
        account.cycle()
        #expect(!account.fixture.loopCalls.contains { $0.hasPrefix("refresh") })
    }

    @Test("K08: a server whose calendar has another token than its reports is not listed again and again")
    func mismatch() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        for _ in 0..<9 {
            account.fixture.put(
                record: account.loop, in: "calendars", value: #"{"supportsSync":true,"syncToken":"something else"}"#)
            account.fixture.pollAll(account.loop)
        }
        #expect(account.fixture.loopCalls.filter { $0.hasPrefix("refresh") }.count == 2)
    }

    @Test("K08: a calendar that has another token each time is listed, which the log says once")
    func otherTokenEachTime() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        for number in 0..<12 {
            account.fixture.put(
                record: account.loop, in: "calendars", value: #"{"supportsSync":true,"syncToken":"at \#(number)"}"#)
            account.fixture.pollAll(account.loop)
        }
        #expect(account.fixture.loopCalls.filter { $0.hasPrefix("refresh") }.count > 2)
        #expect(account.fixture.warnings.filter { $0.contains("does not report the changes") }.count == 1)
    }

    @Test("K09: what a server forgot to tell is found by the day's comparison")
    func reconcile() throws {
        let account = try CalendarAccount()
        for number in 0..<10 { account.server.put("\(number).ics") }
        account.cycle()
        account.server.put("1.ics", "changed")
        account.server.remove("2.ics")
        account.server.put("new.ics")
        account.server.emptyLog()
        account.cycle()
        #expect(account.contents != account.server.truth)
        account.setDay(1)
        account.fixture.forget()
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.listings.count == 1 && account.batches.joined().count == 2)
        account.cycle()
        #expect(account.listings.count == 1)
    }

    @Test("K10: a token that grew too old is a single refresh, then deltas again")
    func aged() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.server.prefix = "fresh-"
        account.server.put("b.ics")
        account.cycle()
        account.fixture.forget()
        account.server.put("c.ics")
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.reports.count == 1 && !account.fixture.loopCalls.contains { $0.hasPrefix("refresh") })
    }

    @Test("K11: without sync-collection, listings give the same records", arguments: [true, false])
    func noSync(_ isAnnounced: Bool) throws {
        let account = try CalendarAccount()
        account.server.supportsSync = false
        func cycle() {
            account.list()
            if isAnnounced {
                // The server announces sync support and has tokens, but rejects the reports.
                account.fixture.put(
                    record: account.loop, in: "calendars",
                    value: #"{"supportsSync":true,"syncToken":"\#(account.server.ctag)"}"#)
            }
            account.fixture.pollAll(account.loop)
        }
        for number in 0..<5 { account.server.put("\(number).ics") }
        cycle()
        #expect(account.contents == account.server.truth)
        account.server.put("1.ics", "changed")
        account.server.remove("2.ics")
        cycle()
        #expect(account.contents == account.server.truth)
        account.fixture.forget()
        cycle()
        #expect(account.fixture.requests == [], "an unchanged ctag or token is enough")
    }

    @Test("An object that Nextcloud lists as 418 goes when it is gone indeed")
    func teapot() throws {
        let account = try CalendarAccount()
        account.server.goneStatus = 418
        account.server.put("a.ics")
        account.server.put("b.ics")
        account.cycle()
        account.server.remove("a.ics")
        larder_fake_answer_dav(account.fixture.fake, "REPORT", account.loop, 207)
        for name in ["a.ics", "b.ics"] {
            larder_fake_response(account.fixture.fake, account.server.href(name), 418, nil)
        }
        larder_fake_end_dav(account.fixture.fake, account.server.token, 0, nil)
        account.cycle()
        #expect(account.contents == account.server.truth)
        #expect(account.fixture.requests.filter { $0.method == "GET" }.count == 2)
    }

    @Test("One broken object holds up no other, and is asked for again")
    func broken() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.server.put("b.ics")
        account.server.broken = ["/ada/work/a.ics"]
        account.cycle()
        #expect(account.kept.map(\.key) == ["/ada/work/b.ics"])
        account.list()
        #expect(account.fixture.poll(account.loop) == LARDER_FAILED)
        let said = account.fixture.failures.last
        #expect(said?.contains("/ada/work/a.ics of the calendar /ada/work/ cannot be read") == true)
        // Objects that arrive meanwhile are not delayed.
        account.server.put("c.ics")
        account.cycle()
        #expect(account.kept.count == 2)
        account.server.broken = []
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-2")
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-3")
    }

    @Test(
        "A byte that is no XML keeps no other object away; the bad one is named and asked for again",
        arguments: [3, 250])
    func unreadable(_ count: Int) throws {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        for number in 0..<count { account.server.put("\(number).ics") }
        let bad: Set = ["/ada/work/1.ics", "/ada/work/\(count - 1).ics"]
        account.server.unreadable = bad
        account.cycle()
        #expect(Set(account.kept.map(\.key)) == Set(account.server.truth.keys).subtracting(bad))
        #expect(account.eventID?.hasPrefix("fetch:") == true)
        account.fixture.forget()
        account.list()
        #expect(account.fixture.poll(account.loop) == LARDER_FAILED)
        #expect(
            account.fixture.failures.last?.contains("and 1 others of the calendar /ada/work/ cannot be read") == true)
        // The loop asks again for the unreadable objects alone.
        #expect(Set(account.batches.joined()) == bad)
        account.server.unreadable = []
        account.cycle()
        #expect(account.contents == account.server.truth)
    }

    @Test(
        "K12 L36: what an answer to a request for many leaves out is asked for by itself, whether it is there or gone")
    func omitted() throws {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        for number in 0..<250 { account.server.put("\(number).ics") }
        account.server.omitted = ["/ada/work/1.ics", "/ada/work/120.ics", "/ada/work/249.ics"]
        account.server.onMultiget = { if $0 == 1 { account.server.remove("120.ics") } }
        account.fixture.forget()
        #expect(account.cycle() == 1)
        #expect(account.contents == account.server.truth && account.contents.count == 250)
        #expect(Set(account.fixture.requests.filter { $0.method == "GET" }.map(\.target)) == account.server.omitted)
        #expect(account.eventID == "token-251")
    }

    @Test("L36: what is left out and cannot be had fails the turn; all else is kept, and the token stays")
    func unobtainable() throws {
        let account = try CalendarAccount()
        account.server.put("first.ics")
        account.cycle()
        for number in 0..<5 { account.server.put("\(number).ics") }
        account.server.omitted = ["/ada/work/3.ics"]
        account.server.failingGets = account.server.omitted
        account.cycle()
        account.list()
        #expect(account.fixture.poll(account.loop) == LARDER_FAILED)
        #expect(account.fixture.failures.last?.contains("/ada/work/3.ics of the calendar") == true)
        #expect(account.kept.count == 5 && account.eventID?.hasPrefix("fetch:") == true)
        account.server.failingGets = []
        account.cycle()
        #expect(account.contents == account.server.truth && account.eventID == "token-6")
    }

    @Test(
        "L36: an answer whose paths are all of other places is an error, and removes nothing", arguments: [true, false])
    func foreign(_ supportsSync: Bool) throws {
        let account = try CalendarAccount()
        account.server.supportsSync = supportsSync
        for number in 0..<3 { account.server.put("\(number).ics") }
        account.cycle()
        let (kept, id) = (account.kept, account.eventID)
        account.server.pathPrefix = "/proxy"
        account.server.put("new.ics")
        func fails(_ place: SourceLocation = #_sourceLocation) {
            account.list()
            #expect(account.fixture.poll(account.loop) == LARDER_IO, sourceLocation: place)
            #expect(account.kept == kept, sourceLocation: place)
            #expect(
                account.fixture.failures.last?
                    .contains("only paths outside of the calendar for the calendar /ada/work/")
                    == true,
                sourceLocation: place)
        }
        fails()
        #expect(account.eventID == id)
        // The poll also fails when everything is fetched anew.
        larder_fake_set_event_id(account.fixture.fake, account.loop, nil)
        fails()
        account.server.pathPrefix = ""
        account.cycle()
        #expect(account.contents == account.server.truth)
    }

    @Test("Removals are paged: more of them than a turn can hold are made one page after the other")
    func manyRemovals() throws {
        let account = try CalendarAccount()
        account.server.put("here.ics")
        account.cycle()
        let padding = String(repeating: "x", count: 3000)
        for number in 0..<6000 {
            account.fixture.put(record: "/ada/work/\(number)\(padding)", in: "calendars/" + account.loop)
        }
        account.setDay(1)
        account.list()
        #expect((6...16).contains(account.fixture.pollAll(account.loop)))
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
    }

    @Test("L36: much that goes has a page of its own, behind what comes", arguments: [true, false])
    func newsFirst(_ byToken: Bool) throws {
        let account = try CalendarAccount()
        for number in 0..<30 { account.server.put("\(number).ics") }
        account.cycle()
        for number in 0..<25 { account.server.remove("\(number).ics") }
        account.server.put("new.ics")
        if !byToken { larder_fake_set_event_id(account.fixture.fake, account.loop, nil) }
        account.list()
        account.fixture.poll(account.loop)
        #expect(account.kept.count == 31 && larder_fake_has_more(account.fixture.fake) == 1)
        // A page that was not applied comes again, with the objects that are new meanwhile in front of it.
        larder_fake_fail(account.fixture.fake, "commit", 1, LARDER_IO)
        account.fixture.pollAll(account.loop)
        #expect(account.kept.count == 31)
        account.server.put("newer.ics")
        account.cycle()
        #expect(account.contents == account.server.truth && account.contents.count == 7)
        account.cycle()
        #expect(account.eventID == account.server.token)
    }

    @Test("When nothing of a calendar can be read, it is the server, which is not asked for each object")
    func nothingReadable() throws {
        let account = try CalendarAccount()
        for number in 0..<50 { account.server.put("\(number).ics") }
        account.server.unreadable = Set(account.server.truth.keys)
        account.list()
        #expect(account.fixture.poll(account.loop) == LARDER_IO)
        #expect(account.batches.count < 10 && account.eventID == nil)
    }

    @Test("A listing without the calendar itself, or cut off, removes nothing")
    func incompleteListing() throws {
        let account = try CalendarAccount()
        account.server.put("a.ics")
        account.cycle()
        account.setDay(1)
        account.list()
        account.fixture.poll(account.loop)
        larder_fake_answer_dav(account.fixture.fake, "PROPFIND", account.loop, 207)
        #expect(account.fixture.poll(account.loop) == LARDER_IO)
        larder_fake_answer_dav(account.fixture.fake, "PROPFIND", account.loop, 207)
        larder_fake_response(account.fixture.fake, account.loop, 200, nil)
        larder_fake_break_answer(account.fixture.fake, LARDER_IO)
        #expect(account.fixture.poll(account.loop) == LARDER_IO)
        #expect(account.contents == account.server.truth)
    }

    @Test("Ten thousand objects come in a few pages, each of them small")
    func many() throws {
        let account = try CalendarAccount()
        let note = String(repeating: "n", count: 1000)
        for number in 0..<10_000 { account.server.put("\(number).ics", note) }
        let turns = account.cycle()
        #expect((3...6).contains(turns))
        #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        #expect(account.batches.joined().count < 10_500)
    }

    @Test("L13: whatever commit is lost, the records and the event id belong together, and the end is the same")
    func interrupted() throws {
        for lost in 1...4 {
            let account = try CalendarAccount()
            let note = String(repeating: "n", count: 50_000)
            for number in 0..<100 { account.server.put("\(number).ics", note) }
            larder_fake_fail(account.fixture.fake, "commit", UInt32(lost), LARDER_IO)
            account.cycle()
            account.server.put("7.ics", "changed")
            account.server.remove("8.ics")
            account.fixture.stop()
            account.fixture.start("org.larder.calendar-loop")
            account.cycle()
            account.cycle()
            #expect(account.contents == account.server.truth && account.eventID == account.server.token)
        }
    }

    @Test("K02: after any changes and any faults, a quiet cycle ends with what the server has")
    func anything() throws {
        var random = SeededGenerator()
        for _ in 0..<max(1, SeededGenerator.rounds() / 100) {
            let account = try CalendarAccount()
            account.server.pageSize = Int.random(in: 1...5, using: &random)
            account.server.supportsMultiget = .random(using: &random)
            let share = Int.random(in: 0...3, using: &random)
            account.server.givesContents = { Int($0.utf8.first ?? 0) % 3 < share ? $1 : nil }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    let name = "\(Int.random(in: 0..<8, using: &random)).ics"
                    if .random(using: &random) { account.server.put(name) } else { account.server.remove(name) }
                }
                switch Int.random(in: 0..<6, using: &random) {
                case 0: larder_fake_fail(account.fixture.fake, "commit", 1, LARDER_IO)
                case 1:
                    larder_fake_fail(
                        account.fixture.fake, "dav_answer.next", .random(in: 1...9, using: &random), LARDER_IO)
                case 2: account.server.prefix = "p\(Int.random(in: 0..<9, using: &random))-"
                case 3:
                    larder_fake_fail(
                        account.fixture.fake, "records.put", .random(in: 1...4, using: &random), LARDER_LIMIT)
                default: break
                }
                account.cycle()
            }
            for _ in 0..<9 { account.cycle() }
            #expect(account.contents == account.server.truth, "LARDER_TEST_SEED=\(random.seed)")
        }
    }
}
