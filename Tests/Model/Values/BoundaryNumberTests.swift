import Glibc
import Model
import TestSupport
import Testing

@Suite struct BoundaryNumberTests {
    @Test("H12: a size is digits alone and at most an exbibyte; what is more is not told")
    func sizes() {
        let sizes = BoundaryNumbers.texts.compactMap { text in OutsideNumber.size(text).map { (text, $0) } }
        #expect(
            sizes.map(\.0) == [
                "0", "007", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740991",
                "9007199254740993", "1152921504606846976",
            ])
        #expect(sizes.map(\.1) == sizes.compactMap { Int64($0.0) })
    }

    @Test("H12: a wait is digits alone and at most a day, however long it says")
    func waits() {
        #expect(OutsideNumber.wait(seconds: "7") == .seconds(7))
        for text in ["86400", "9223372036854775807", "1000000000000000000000000000000"] {
            #expect(OutsideNumber.wait(seconds: text) == .seconds(86_400), "\(text)")
        }
        for text in ["", "-1", "+1", " 7", "NaN", "1e3"] { #expect(OutsideNumber.wait(seconds: text) == nil) }
    }

    @Test("H12: moments before 1677 and after 2262 are the first and the last, and no reckoning with them wraps round")
    func moments() throws {
        let ends = [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max)]
        for text in BoundaryNumbers.httpDates.dropLast() where text.count > 1 {
            let time = try #require(Timestamp(httpDate: text), "\(text)")
            #expect(
                (time < Timestamp(seconds: 0))
                    == (text.contains(" 0") && !text.contains("1970") || text.contains("1677")))
        }
        #expect(Timestamp(httpDate: "Fri, 11 Apr 2262 23:47:17 GMT") == ends[1])
        for seconds in BoundaryNumbers.integers {
            let time = Timestamp(seconds: seconds)
            #expect((time < Timestamp(nanoseconds: 0)) == (seconds < 0))
            #expect(Timestamp(timespec(tv_sec: Int(seconds), tv_nsec: 999_999_999)) >= time)
            for other in BoundaryNumbers.integers {
                let (length, duration) = (Timestamp(nanoseconds: other), Duration.nanoseconds(other))
                #expect((time + duration < time) == (other < 0 && time != ends[0]))
                #expect((time - duration > time) == (other < 0 && time != ends[1]))
                #expect((time - length < .zero) == (time < length))
                #expect(seconds.adding(other) == other.adding(seconds))
                #expect((seconds.subtracting(other) < 0) == (seconds < other))
            }
            _ = (
                time.description, time.httpDate, Duration.seconds(seconds).nanoseconds, Int64(nearest: Double(seconds))
            )
        }
        #expect(ends[1] - ends[0] == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
        #expect(Int64(nearest: .nan) == 0 && Int64(nearest: .infinity) == .max && Int64(nearest: -1e300) == .min)
    }

    @Test(
        "H12: durations and sizes of the config are read or refused, whatever the number",
        arguments: BoundaryNumbers.texts)
    func written(_ text: String) {
        for unit in ["ms", "s", "d", "B", "TiB", ""] {
            if let milliseconds = WrittenQuantity.milliseconds(text + unit) {
                #expect(milliseconds.magnitude <= Int64.max / 1_000_000)
            }
            _ = WrittenQuantity.bytes(text + unit)
        }
        _ = Timestamp(rfc3339: text)
        _ = try? JSONValue(parsing: text)
        _ = try? Condition(parsing: "size > \(text)")
        _ = try? Condition(parsing: "lastUsed < now - duration(\"\(text)s\")")
    }
}
