import Model
import Testing

@Suite struct TimestampTests {
    @Test(
        "RFC 3339 is read and written",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T12:00:00Z", 1_795_262_400_000_000_000),
            ("2026-11-21T12:00:00.25Z", 1_795_262_400_250_000_000), ("1969-12-31T23:59:59.999999999Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000_000), ("1900-03-01T00:00:00Z", -2_203_891_200_000_000_000),
            ("2262-04-11T23:47:16.854775807Z", Int64.max), ("1677-09-21T00:12:43.145224192Z", Int64.min),
        ])
    func roundTrip(_ text: String, _ nanoseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.nanoseconds == nanoseconds)
        #expect(Timestamp(nanoseconds: nanoseconds).description == text)
    }

    @Test("Offsets, lower case and a blank for the T are read")
    func variants() {
        let noon = Timestamp(rfc3339: "2026-11-21T12:00:00Z")
        for text in ["2026-11-21T13:30:00+01:30", "2026-11-21 12:00:00z", "2026-11-20t23:00:00.0-13:00"] {
            #expect(Timestamp(rfc3339: text) == noon, "\(text)")
        }
    }

    @Test(
        "What is no time is refused",
        arguments: [
            "", "2026-11-21", "2026-11-21T12:00:00", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-11-00T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T12:60:00Z", "2026-11-21T12:00:00.Z",
            "2026-11-21T12:00:00+1:00", "2026-11-21T12:00:00+24:00", "2026-11-21T12:00:00Zx", "26-11-21T12:00:00Z",
            "2026-1a-21T12:00:00Z", "9999-01-01T00:00:00Z", "٢٠٢٦-11-21T12:00:00Z",
        ])
    func refused(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    @Test("HTTP dates are read and written")
    func httpDates() {
        let time = Timestamp(rfc3339: "1994-11-06T08:49:37Z")
        #expect(Timestamp(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT") == time)
        #expect(time?.httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(Timestamp(seconds: -1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    @Test(
        "C15: a date is read in the three forms of HTTP, and as servers send it beside them",
        arguments: [
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 10:49:37 +0200", "Sun, 06 Nov 1994 03:19:37 -05:30",
            "6 nov 1994 08:49:37", " So., 06 Nov 1994 08:49:37 UTC ",
        ])
    func httpForms(_ text: String) {
        #expect(Timestamp(httpDate: text) == Timestamp(rfc3339: "1994-11-06T08:49:37Z"), "\(text)")
    }

    @Test(
        "C15: what is no date, or says no zone that is known, is not taken for one",
        arguments: [
            "", "Sun", "Sun, 06 Nov", "Sun, 31 Feb 1994 08:49:37 GMT", "So, 06 Okt 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 +2500", "Sun, 06 Nov 1994 08:49:37 GMT+0200",
            "Sun, 06 Nov 1994 08:49:37 +0x00", "Sun Nov 6 08:49:37", "1994", "Sun, 006 Nov 1994 08:49:37 GMT", ",", "-",
        ])
    func noDates(_ text: String) { #expect(Timestamp(httpDate: text) == nil, "\(text)") }

    @Test("Seconds round down, also before 1970; durations become nanoseconds")
    func arithmetic() {
        #expect(Timestamp(nanoseconds: -1).seconds == -1)
        #expect(Timestamp(seconds: 5) - Timestamp(seconds: 3) == .seconds(2))
        #expect((Timestamp(seconds: 5) - .milliseconds(1)).nanoseconds == 4_999_000_000)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(-Int64.max).nanoseconds == .min)
    }
}
