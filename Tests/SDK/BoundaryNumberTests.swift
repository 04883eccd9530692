import LarderSDK
import TestSupport
import Testing

/// Tests of the numbers that plugins get from servers, in calendars and in JSON.
@Suite struct BoundaryNumberTests {
    @Test(
        "H12: times and durations of calendars are some or none, whatever the number", arguments: BoundaryNumbers.texts)
    func calendars(_ text: String) {
        let lines = [
            "BEGIN:VEVENT", "DTSTART:\(text)", "DURATION:P\(text)W", "RRULE:FREQ=DAILY;COUNT=\(text);UNTIL=\(text)",
            "END:VEVENT", "BEGIN:VTODO", "DTSTART:99991231T235959Z", "DURATION:P\(text)DT\(text)S", "END:VTODO",
            "BEGIN:VJOURNAL", "DTSTART:00000101", "DURATION:-P999999999W", "END:VJOURNAL",
        ]
        for first in [0, 5, 9] {
            let calendar = lines[first...].joined(separator: "\r\n") + "\r\n"
            #expect(CalendarEntry(parsing: calendar.utf8.span) != nil)
        }
    }

    @Test("H12: a moment outside the years 0 to 9999 is none", arguments: BoundaryNumbers.integers)
    func moments(_ seconds: Int64) {
        for isWholeDay in [false, true] {
            let time = CalendarTime(secondsSince1970: seconds, isWholeDay: isWholeDay)
            #expect((time != nil) == (-62_167_219_200...253_402_300_799).contains(seconds))
        }
        for other in BoundaryNumbers.integers {
            #expect(seconds.addingSaturated(other) == other.addingSaturated(seconds))
            #expect((seconds.subtractingSaturated(other) < 0) == (seconds < other))
        }
    }

    @Test("H12: numbers in JSON are read as they are, or the text is refused", arguments: BoundaryNumbers.texts)
    func json(_ text: String) {
        for written in ["{\"a\":\(text)}", "{\"a\":\"\(text)\"}"] {
            guard let json = try? JSON(parsing: written.utf8.span) else { continue }
            _ = (json["a"]?.integer, json["a"]?.string, json.text)
        }
    }
}
