import LarderSDK
import TestSupport
import Testing

/// Tests of the data that the SDK reads from calendar objects.
@Suite struct CalendarEntryTests {
    private func entry(_ lines: String...) throws -> CalendarEntry {
        let text = (["BEGIN:VCALENDAR", "VERSION:2.0"] + lines + ["END:VCALENDAR", ""]).joined(separator: "\r\n")
        let read = CalendarEntry(parsing: text.utf8.span)
        return try #require(read)
    }

    @Test("SDK: an event is read past its time zone, its alarm and what is folded, quoted and escaped")
    func event() throws {
        let entry = try entry(
            "BEGIN:VTIMEZONE", "TZID:Europe/Vienna", "BEGIN:STANDARD", "DTSTART:19701025T030000",
            "RRULE:FREQ=YEARLY", "END:STANDARD", "END:VTIMEZONE", "BEGIN:VEVENT", "BEGIN:VALARM", "SUMMARY:no",
            "DURATION:PT15M", "END:VALARM", "uid:a@example.org",
            "DTSTART;X-A=\"b;c:d\";TZID=\"Europe/Vienna\":20260301T1",
            " 00000", "SUMMARY;LANGUAGE=de:Frühst\u{FC}ck\\, \\\"Käse\\\"\\; mit\\nallen \\\\",
            "\t und mehr", "RRULE:FREQ=WEEKLY;BY", " DAY=MO", "DURATION:P1DT2H", "END:VEVENT")
        #expect(entry.component == "VEVENT" && entry.uid == "a@example.org")
        #expect(entry.summary == "Frühst\u{FC}ck, \"Käse\"; mit\nallen \\ und mehr")
        #expect(
            entry.start == "2026-03-01T10:00:00[Europe/Vienna]" && entry.end == "2026-03-02T12:00:00[Europe/Vienna]")
        #expect(entry.rrule == "FREQ=WEEKLY;BYDAY=MO")
    }

    @Test("SDK: a fold inside a character is undone, with CRLF and with LF", arguments: ["\r\n ", "\n\t"])
    func splitCharacter(_ fold: String) throws {
        let bytes =
            Array("BEGIN:VTODO\nSUMMARY:a".utf8) + [0xC3] + Array(fold.utf8) + [0xA9] + Array("\nEND:VTODO".utf8)
        let read = CalendarEntry(parsing: bytes.span)
        let entry = try #require(read)
        #expect(entry.component == "VTODO" && entry.summary == "a\u{E9}")
    }

    @Test(
        "SDK: times are written in one way, and what is no time is none",
        arguments: [
            ("DTSTART:20260301T100000Z", "2026-03-01T10:00:00Z"), ("DTSTART:20260301T100000", "2026-03-01T10:00:00"),
            ("DTSTART;VALUE=DATE:20280229", "2028-02-29"), ("DTSTART:20260229", nil), ("DTSTART:20261301", nil),
            ("DTSTART:20260301T240000", nil), ("DTSTART:20260301T1000", nil), ("DTSTART:", nil),
            ("DTSTART:2026030é", nil),
            ("DTSTART:20161231T235960Z", "2016-12-31T23:59:59Z"),
        ] as [(String, String?)])
    func times(_ line: String, _ expected: String?) throws {
        #expect(try entry("BEGIN:VEVENT", line, "END:VEVENT").start == expected)
    }

    @Test(
        "SDK: an end is reckoned from a duration, over months and leap days",
        arguments: [
            ("20260228", "P1D", "2026-03-01"), ("20280228", "P1W", "2028-03-06"),
            ("20261231T230000Z", "PT90M", "2027-01-01T00:30:00Z"),
            ("20260301T000000", "-PT1S", "2026-02-28T23:59:59"), ("20000229", "P365D", "2001-02-28"),
            ("20260301", "PT1H", nil), ("99991231", "P1D", nil), ("20260301", "P", nil), ("20260301", "P1", nil),
            ("20260301", "P99999999999999999999D", nil), ("20260301", "1D", nil),
        ] as [(String, String, String?)])
    func durations(_ start: String, _ duration: String, _ end: String?) throws {
        #expect(try entry("BEGIN:VEVENT", "DTSTART:\(start)", "DURATION:\(duration)", "END:VEVENT").end == end)
    }

    @Test("SDK: of a series with exceptions, the series itself is read, wherever it stands")
    func exceptions() throws {
        let exception = ["BEGIN:VEVENT", "UID:s", "RECURRENCE-ID:20260308", "SUMMARY:moved", "END:VEVENT"]
        let series = ["BEGIN:VEVENT", "UID:s", "SUMMARY:series", "RRULE:FREQ=WEEKLY", "END:VEVENT"]
        for lines in [exception + series, series + exception] {
            let text = (["BEGIN:VCALENDAR"] + lines + ["END:VCALENDAR"]).joined(separator: "\n")
            let read = CalendarEntry(parsing: text.utf8.span)
            let entry = try #require(read)
            #expect(entry.summary == "series" && entry.rrule == "FREQ=WEEKLY")
        }
        let alone = exception.joined(separator: "\n")
        let read = CalendarEntry(parsing: alone.utf8.span)
        #expect(read?.summary == "moved")
    }

    @Test(
        "SDK: what is no calendar object, or ends too soon, is none",
        arguments: ["", "BEGIN:VCALENDAR", "BEGIN:VEVENT\nUID:x", "<html>"])
    func none(_ text: String) {
        let read = CalendarEntry(parsing: text.utf8.span)
        #expect(read == nil)
    }

    @Test("SDK: any bytes are read to their end, and what is read of them has a bounded size")
    func anything() {
        var mutator = Mutator(words: [
            "BEGIN:VEVENT", "END:VEVENT", "\r\n ", "DTSTART", ";TZID=\"", ":", "\\", "DURATION:P", "T", "\r",
            "999999999W",
            "RECURRENCE-ID", "BEGIN:VCALENDAR", "UID:", String(repeating: "\u{1F600}", count: 5000),
        ])
        let sample = """
            BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID="A;B":20260301T100000\r\nDURATION:P1DT2H\r\n\
            SUMMARY:a\\,\r\n b\r\nRRULE:FREQ=DAILY\r\nBEGIN:VALARM\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
            """
        var read = 0
        for _ in 0..<SeededGenerator.rounds() {
            let bytes = mutator.mutate(sample.utf8)
            guard let entry = CalendarEntry(parsing: bytes.span) else { continue }
            read += 1
            for text in [entry.component, entry.uid, entry.summary, entry.start, entry.end, entry.rrule] {
                #expect((text ?? "").utf8.count <= 16 << 10, "LARDER_TEST_SEED=\(mutator.seed)")
            }
        }
        #expect(read > 0 && read < SeededGenerator.rounds())
    }
}
