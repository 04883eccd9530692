import CLarder
import LarderFakeHost
import Testing

/// Tests of plain JSON events endpoints, as the core loop and the calendar loop read them.
@Suite struct EventFeedTests {
    private static let settings = #"{"events":{"url":"/events/"}}"#

    private func core(_ eventID: String? = "e1") throws -> PluginFixture {
        let fixture = try PluginFixture.opening(plugin: "CoreLoop")
        #expect(fixture.start("org.larder.core-loop", settings: Self.settings) == LARDER_OK)
        larder_fake_set_event_id(fixture.fake, "core", eventID)
        return fixture
    }

    private func calendar(_ eventID: String?) throws -> PluginFixture {
        let fixture = try PluginFixture.opening(plugin: "CalendarLoop")
        #expect(fixture.start("org.larder.calendar-loop") == LARDER_OK)
        fixture.put(record: "c 1", in: "calendars", value: #"{"name":"Work","events":"/events"}"#)
        larder_fake_set_event_id(fixture.fake, "c 1", eventID)
        return fixture
    }

    private func answer(_ fixture: PluginFixture, _ path: String, _ body: String, _ status: UInt32 = 200) {
        larder_fake_answer(fixture.fake, "GET", "/events/" + path, status, body)
    }

    @Test("L30: a core page is decoded; unknown members are passed over, and a delete needs no entity")
    func corePage() throws {
        let fixture = try core(nil)
        answer(fixture, "core/v4/events/latest", #"{"Code":1000,"EventID":"e/1=","New":[1]}"#)
        answer(fixture, "calendar/v1", #"{"Code":1000,"Calendars":[]}"#)
        larder_fake_answer(fixture.fake, "GET", "/ocs/v2.php/cloud/capabilities?format=json", 404, nil)
        #expect(fixture.poll("core") == LARDER_OK && fixture.eventID(of: "core") == "e/1=")
        fixture.put(record: "old", in: "calendars", value: "{}")
        answer(
            fixture, "core/v5/events/e%2F1%3D",
            """
            {"Code":1000,"EventID":"e2","Refresh":0,"More":1,"Unknown":{},"Messages":[{"ID":"m","Action":3}],\
            "Calendars":[{"ID":"old","Action":0},\
            {"ID":"c1","Action":1,"Calendar":{"Name":"Work","Color":"#aa0000","Kind":7}},\
            {"ID":7,"Action":1},{}],\
            "CalendarMembers":[{"ID":"x","Action":1,"Member":{"CalendarID":"c1","Name":"Mine"}}],\
            "User":{"ID":"u","DisplayName":"Ada","MaxSpace":100},"UsedSpace":30}
            """
        )
        #expect(fixture.pollAll("core", atMost: 1) == 1 && larder_fake_has_more(fixture.fake) == 1)
        #expect(
            fixture.records(in: "calendars").map(\.value)
                == [
                    """
                    {"name":"Mine","href":"c1","components":[],"supportsSync":false,"color":"#aa0000",\
                    "privileges":[],"events":"/events/"}
                    """
                ])
        #expect(
            fixture.record("account", in: "account")?.value
                == #"{"id":"u","displayName":"Ada","quota":100,"quotaUsed":30,"quotaAvailable":70}"#)
        answer(fixture, "core/v5/events/e2", #"{"EventID":"e3","More":false,"UsedSpace":31}"#)
        #expect(fixture.poll("core") == LARDER_OK && larder_fake_has_more(fixture.fake) == 0)
        #expect(fixture.record("account", in: "account")?.value.contains(#""quotaAvailable":69"#) == true)
        #expect(fixture.mistakes == [])
    }

    @Test(
        "L11: Refresh is a number, a mask or a boolean, and an event id that is of no use means the same",
        arguments: [
            #"{"EventID":"e2","Refresh":1}"#, #"{"EventID":"e2","Refresh":255}"#, #"{"EventID":"e2","Refresh":true}"#,
            #"{"EventID":"e2","Refresh":999}"#, #"{"Code":2061,"Error":"Invalid ID"}"#,
        ])
    func refresh(_ page: String) throws {
        let fixture = try core()
        answer(fixture, "core/v5/events/e1", page, page.contains("2061") ? 422 : 200)
        answer(fixture, "core/v4/events/latest", #"{"Code":1000,"EventID":"e9"}"#)
        answer(fixture, "calendar/v1", #"{"Code":1000,"Calendars":[]}"#)
        larder_fake_answer(fixture.fake, "GET", "/ocs/v2.php/cloud/capabilities?format=json", 404, nil)
        #expect(fixture.poll("core") == LARDER_OK && fixture.eventID(of: "core") == "e9")
        #expect(fixture.loopCalls.contains("refresh core \(LARDER_REFRESH_EVERYTHING)"))
    }

    @Test("L10 L37: a refresh takes the newest id, lists the calendars, drops what is gone and takes what is there")
    func coreRefresh() throws {
        let fixture = try core()
        for id in ["gone", "kept"] {
            fixture.put(record: id, in: "calendars", value: ##"{"name":"Old","color":"#00bb00","events":"/events/"}"##)
        }
        func poll() -> larder_status {
            answer(fixture, "core/v5/events/e1", #"{"EventID":"e2","Refresh":1}"#)
            answer(fixture, "core/v4/events/latest", #"{"Code":1000,"EventID":"e9"}"#)
            larder_fake_answer(fixture.fake, "GET", "/ocs/v2.php/cloud/capabilities?format=json", 404, nil)
            return fixture.poll("core")
        }
        // Without a listing the loop may drop nothing, and it has no id to continue from.
        answer(fixture, "calendar/v1", #"{"Code":2501,"Error":"no such thing"}"#, 404)
        #expect(poll() == LARDER_FAILED)
        #expect(fixture.failures.last?.contains("the events endpoint /events has no listing at calendar/v1") == true)
        #expect(fixture.eventID(of: "core") == "e1" && fixture.records(in: "calendars").count == 2)
        for bad in [#"{"Code":1000}"#, #"{"Calendars":[{"Name":"x"}]}"#, #"{"Calendars":[],"More":1}"#] {
            answer(fixture, "calendar/v1", bad)
            #expect(poll() == LARDER_IO, "\(bad)")
        }
        answer(fixture, "calendar/v1", #"{"Calendars":[{"ID":"kept","Name":"Mine"}],"More":true}"#)
        // A missing part of the listing does not mean that the endpoint is missing.
        answer(fixture, "calendar/v1?Page=1", "", 404)
        #expect(poll() == LARDER_IO && fixture.eventID(of: "core") == "e1")
        answer(fixture, "calendar/v1", #"{"Calendars":[{"ID":"kept","Name":"Mine"}],"More":true}"#)
        answer(fixture, "calendar/v1?Page=1", #"{"Calendars":[{"ID":"new","Name":"Team"}],"More":false}"#)
        #expect(poll() == LARDER_OK && fixture.eventID(of: "core") == "e9")
        #expect(
            fixture.records(in: "calendars").map { "\($0.key) \($0.value.prefix(14))" }
                == [#"kept {"name":"Mine""#, #"new {"name":"Team""#])
        #expect(fixture.records(in: "calendars").first?.value.contains("#00bb00") == true)
    }

    @Test("L37: a calendar's refresh lists its events, drops what is gone and takes what is there")
    func calendarRefresh() throws {
        let fixture = try calendar("m1")
        for id in ["gone", "kept"] { fixture.put(record: id, in: "calendars/c 1", value: "{}") }
        func poll() -> larder_status {
            answer(fixture, "calendar/v1/c%201/modelevents/m1", #"{"CalendarModelEventID":"m2","Refresh":255}"#)
            answer(fixture, "calendar/v1/c%201/modelevents/latest", #"{"Code":1000,"CalendarModelEventID":"m9"}"#)
            return fixture.poll("c 1")
        }
        answer(fixture, "calendar/v1/c%201/events", "", 404)
        #expect(poll() == LARDER_FAILED)
        #expect(fixture.failures.last?.contains("the calendar c 1 cannot be fetched again") == true)
        #expect(fixture.eventID(of: "c 1") == "m1" && fixture.records(in: "calendars/c 1").count == 2)
        answer(
            fixture, "calendar/v1/c%201/events",
            """
            {"Code":1000,"Events":[{"ID":"kept","UID":"k","StartTime":1772359200},\
            {"ID":"new","UID":"n","StartTime":1772359200}]}
            """
        )
        #expect(poll() == LARDER_OK && fixture.eventID(of: "c 1") == "m9")
        #expect(fixture.records(in: "calendars/c 1").map(\.key) == ["kept", "new"])
        #expect(fixture.records(in: "calendars/c 1").allSatisfy { $0.content?.contains("DTSTART") == true })
    }

    @Test("L09: what is no page fails the poll, and an endpoint that is not there is nothing to poll")
    func failures() throws {
        let fixture = try core()
        let pages: [(String, UInt32, larder_status)] = [
            ("<html>", 200, LARDER_IO), ("{}", 200, LARDER_IO), (#"{"EventID":""}"#, 200, LARDER_IO),
            ("[]", 200, LARDER_IO),
            (#"{"Code":2501,"EventID":"e2"}"#, 200, LARDER_IO), (#"{"EventID":"e2"}"#, 500, LARDER_IO),
            ("", 404, LARDER_UNSUPPORTED),
        ]
        for (body, status, expected) in pages {
            answer(fixture, "core/v5/events/e1", body, status)
            #expect(fixture.poll("core") == expected, "\(status) \(body)")
            #expect(fixture.eventID(of: "core") == "e1")
        }
    }

    @Test("L30: a calendar's pages are decoded, with the event id's other name")
    func calendarPage() throws {
        let fixture = try calendar(nil)
        answer(fixture, "calendar/v1/c%201/modelevents/latest", #"{"Code":1000,"CalendarModelEventID":"m1"}"#)
        answer(fixture, "calendar/v1/c%201/events", #"{"Code":1000,"Events":[]}"#)
        #expect(fixture.poll("c 1") == LARDER_OK && fixture.eventID(of: "c 1") == "m1")
        fixture.put(record: "gone", in: "calendars/c 1", value: "{}")
        answer(
            fixture, "calendar/v1/c%201/modelevents/m1",
            """
            {"CalendarModelEventID":"m2","More":1,"CalendarAlarms":[{"ID":"a","Action":1}],\
            "CalendarEvents":[{"ID":"gone","Action":0},\
            {"ID":"v","Action":1,"Event":{"UID":"u@x","StartTime":1772359200,"EndTime":1772362800,"FullDay":0,\
            "RRule":"FREQ=DAILY","ModifyTime":5,"RecurrenceID":null}},\
            {"ID":"d","Action":2,"Event":{"UID":"d\\r\\nX:1","StartTime":1772323200,"FullDay":1}},\
            {"ID":"n","Action":1}]}
            """
        )
        #expect(fixture.poll("c 1") == LARDER_OK && larder_fake_has_more(fixture.fake) == 1)
        let kept = fixture.records(in: "calendars/c 1")
        #expect(
            kept.map(\.value) == [
                #"{"component":"VEVENT","start":"2026-03-01"}"#,
                """
                {"uid":"u@x","component":"VEVENT","start":"2026-03-01T10:00:00Z","end":"2026-03-01T11:00:00Z",\
                "rrule":"FREQ=DAILY"}
                """,
            ])
        #expect(
            kept.map(\.key) == ["d", "v"] && kept.last?.content?.contains("\r\nDTSTAMP:19700101T000005Z\r\n") == true)
        answer(
            fixture, "calendar/v1/c%201/modelevents/m2", #"{"CalendarModelEventID":"m2","Refresh":false,"More":false}"#)
        #expect(fixture.poll("c 1") == LARDER_OK && fixture.records(in: "calendars/c 1").count == 2)
    }
}
