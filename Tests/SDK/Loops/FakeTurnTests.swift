import CLarder
import LarderFakeHost
import LarderSDK
import Testing

/// A loop whose event id says what the loop does.
struct Sampling: EventLoop {
    static let description = PluginDescription(
        id: "org.example.sampling", name: "Sampling", version: "1", required: [.records, .http],
        wanted: [.log, .values, .dav, .discover])
    static let kind = "sampling"
    static let collection: String? = "samples"
    static let refreshBits: RefreshSet = [RefreshSet(rawValue: 1), RefreshSet(rawValue: 2)]

    let host: Host

    init(host: Host) throws(PluginError) { self.host = host }

    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<String> {
        if eventID == "fails" { throw PluginError(.io, "the line is cut") }
        if eventID == "nothing" { throw PluginError(.unsupported, "nothing here") }
        if let depth = eventID.hasPrefix("depth ") ? Int(eventID.dropFirst(6)) : nil {
            _ = try host.require(host.dav, .dav).propfind("/", depth: depth, [])
        }
        if eventID == "homes" {
            let discover = try host.require(host.discover, .discover)
            host.log?.info("\(try discover.calendarHomes()) \(try discover.addressBookHomes())")
        }
        if eventID == "writes" { try host.records?.put(Record(key: "x"), in: "org.example.sampling/\(loop)") }
        if eventID == "empty" { return EventPage(eventID: "", content: "") }
        let bits: UInt32? = eventID.hasPrefix("refresh ") ? UInt32(eventID.dropFirst(8)) : nil
        return EventPage(
            eventID: eventID == "same" ? "same" : "next", refresh: RefreshSet(rawValue: bits ?? 0),
            more: eventID == "same",
            content: eventID)
    }

    mutating func process(_ page: EventPage<String>, of loop: String) throws(PluginError) {
        let records = try host.require(host.records, .records)
        let collection = "org.example.sampling/\(loop)"
        try records.put(Record(key: "page", value: "{}"), in: collection)
        try host.values?.set("page", to: Array(page.content.utf8))
        if page.content == "half" { throw PluginError(.failed, "half way") }
        if page.content == "foreign" { try records.put(Record(key: "x"), in: "samples/other") }
        if page.content == "list" { try records.put(Record(key: "page", value: "[]"), in: collection) }
        if page.content == "large" {
            try records.put(Record(key: "a", content: [UInt8](repeating: 0, count: 9 << 20)), in: collection)
            try records.put(Record(key: "b", content: [UInt8](repeating: 0, count: 9 << 20)), in: collection)
        }
        if page.content == "reads" {
            var all = try records.all(in: collection)
            var keys = ""
            while let record = try all.next() { keys += record.key }
            let asked = try records.record("page", in: collection) != nil
            host.log?.info("keys \(keys), asked \(asked)")
        }
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        try host.records?.put(Record(key: "refreshed \(what.rawValue)"), in: "org.example.sampling/\(loop)")
        return Anchor(eventID: "anchor \(what.rawValue)")
    }

    mutating func onError(_ error: LoopError, of loop: String) {
        host.log?.info("\(error.status.rawValue) \(error.message)")
    }
}

/// Tests of the turns that the fake host makes.
@Suite struct FakeTurnTests {
    private func fixture(_ eventID: String?) throws -> PluginFixture {
        let fixture = try PluginFixture(entry: { _, out in
            export(Sampler.self, Drafter.self, loops: Sampling.self, to: out)
        })
        #expect(fixture.start("org.example.sampling") == LARDER_OK)
        larder_fake_set_event_id(fixture.fake, "one", eventID)
        fixture.put(record: "one", in: "samples")
        return fixture
    }

    @Test("L08: without an event id, the loop is told so and refreshed in the same turn, and its anchor is kept")
    func missing() throws {
        let fixture = try fixture(nil)
        #expect(fixture.poll("one") == LARDER_OK)
        #expect(
            fixture.loopCalls == [
                "on_error one \(LARDER_LOOP_MISSING_ID)", "refresh one 1", "release_page one 0", "refresh one 2",
                "release_page one 0",
            ])
        #expect(fixture.eventID(of: "one") == "anchor 1")
        #expect(fixture.records(in: "org.example.sampling/one").map(\.key) == ["refreshed 1", "refreshed 2"])
    }

    @Test(
        "L10, L11: a page that asks for a refresh is not processed; its bits are refreshed one by one, unknown ones mean all",
        arguments: [(1, [1]), (2, [2]), (3, [1, 2]), (255, [1, 2]), (4, [1, 2]), (5, [1, 2])])
    func refresh(_ asked: Int, _ refreshed: [Int]) throws {
        let fixture = try fixture("refresh \(asked)")
        #expect(fixture.poll("one") == LARDER_OK)
        #expect(
            fixture.loopCalls
                == ["poll one 0", "release_page one 0", "on_error one \(LARDER_LOOP_OUTDATED)"]
                + refreshed.flatMap { ["refresh one \($0)", "release_page one 0"] })
        #expect(fixture.eventID(of: "one") == "anchor \(refreshed[0])")
    }

    @Test(
        "L12: a turn that fails leaves records, values and event id as they were, and says why",
        arguments: [
            ("fails", LARDER_IO), ("half", LARDER_FAILED), ("foreign", LARDER_DENIED),
            ("list", LARDER_INVALID_ARGUMENT),
            ("large", LARDER_LIMIT), ("writes", LARDER_WRONG_STATE), ("empty", LARDER_FAILED),
        ])
    func failures(_ eventID: String, _ status: larder_status) throws {
        let fixture = try fixture(eventID)
        #expect(fixture.poll("one") == status)
        #expect(fixture.eventID(of: "one") == eventID && fixture.records(in: "samples/one") == [])
        #expect(fixture.value(of: "page") == nil && fixture.recordsAsked == [])
        #expect(fixture.logLines.last?.hasPrefix("\(status) ") == true)
        let calls = fixture.loopCalls.map { $0.prefix { $0 != " " } }
        #expect(calls.filter { $0 == "release_page" }.count == (eventID == "fails" || eventID == "writes" ? 0 : 1))
    }

    @Test("L15: a page that has more with the same event id is polled once more, and then an error")
    func noProgress() throws {
        let fixture = try fixture("same")
        #expect(fixture.poll("one") == LARDER_OK && larder_fake_has_more(fixture.fake) == 1)
        #expect(fixture.poll("one") == LARDER_FAILED && larder_fake_has_more(fixture.fake) == 0)
    }

    @Test("L13: a commit that is lost loses all of a turn; the next one makes it again")
    func lostCommit() throws {
        let fixture = try fixture("reads")
        larder_fake_fail(fixture.fake, "commit", 1, LARDER_IO)
        #expect(fixture.poll("one") == LARDER_IO)
        #expect(fixture.records(in: "org.example.sampling/one") == [] && fixture.value(of: "page") == nil)
        #expect(fixture.poll("one") == LARDER_OK && fixture.eventID(of: "one") == "next")
        #expect(fixture.value(of: "page") == "reads" && fixture.logLines.last == "keys , asked true")
    }

    @Test("L33: a loop with nothing to poll is no failure, and nothing is told to it")
    func notOffered() throws {
        let fixture = try fixture("nothing")
        #expect(fixture.poll("one") == LARDER_UNSUPPORTED)
        #expect(fixture.loopCalls == ["poll one 0"])
    }

    @Test("SDK: calendars and address books have homes of their own, and none unless the test sets them")
    func homes() throws {
        let fixture = try fixture("homes")
        #expect(fixture.poll("one") == LARDER_UNSUPPORTED && fixture.logLines == [])
        "/cal/ada/".withCString { home in
            [home].withUnsafeBufferPointer { larder_fake_homes(fixture.fake, "/ada/", $0.baseAddress, 1) }
        }
        #expect(fixture.poll("one") == LARDER_UNSUPPORTED && fixture.logLines == [])
        "/card/ada/".withCString { home in
            [home].withUnsafeBufferPointer { larder_fake_address_book_homes(fixture.fake, nil, $0.baseAddress, 1) }
        }
        #expect(fixture.poll("one") == LARDER_OK)
        #expect(
            fixture.logLines == [
                "Homes(principal: \"/ada/\", homes: [\"/cal/ada/\"]) Homes(principal: \"\", homes: [\"/card/ada/\"])"
            ])
        #expect(
            fixture.requests.map { "\($0.method) \($0.target)" }
                == ["caldav", "caldav", "carddav", "caldav", "carddav"].map { "discover \($0)" })
    }

    @Test("SDK: when a record goes, what belongs to it goes, and its loop's event id")
    func removal() throws {
        let fixture = try fixture("x")
        fixture.put(record: "a", in: "samples/one")
        fixture.put(record: "own", in: "org.example.sampling/one")
        fixture.put(record: "b", in: "samples/one/a")
        fixture.put(record: "a", in: "samples/one2")
        larder_fake_drop_record(fixture.fake, "samples", "one")
        #expect(fixture.records(in: "samples/one") == [] && fixture.records(in: "org.example.sampling/one") == [])
        // These records belong to the loop of the record `one/a`.
        #expect(fixture.records(in: "samples/one/a").count == 1)
        #expect(fixture.records(in: "samples/one2").count == 1 && fixture.eventID(of: "one") == nil)
    }

    @Test("SDK: a depth that no request has is refused, whatever the number", arguments: [-1, 2, .max, .min])
    func depth(_ depth: Int) throws {
        let fixture = try fixture("depth \(depth)")
        #expect(fixture.poll("one") == LARDER_INVALID_ARGUMENT)
    }
}
