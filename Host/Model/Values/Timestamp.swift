public import Glibc

/// A moment as nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The range is from 1677 to 2262. An earlier or later moment, as in dates of servers and files, becomes the first or
/// the last moment of the range. A moment is encoded as its number of nanoseconds, or as a text by an encoder whose user
/// info has ``asText``.
public struct Timestamp: Hashable, Codable, Comparable, Sendable, CustomStringConvertible {
    /// The number of nanoseconds since 1970-01-01T00:00:00Z.
    public var nanoseconds: Int64

    /// Creates a moment from nanoseconds since 1970-01-01T00:00:00Z.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    /// Creates a moment from seconds since 1970-01-01T00:00:00Z.
    public init(seconds: Int64) { self.init(seconds: seconds, fraction: 0) }

    /// Creates a moment from seconds and a fraction.
    /// - Parameter fraction: The fraction in nanoseconds.
    private init(seconds: Int64, fraction: Int64) {
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : whole.adding(fraction)
    }

    /// The number of whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public var seconds: Int64 { nanoseconds.flooredDivision(by: 1_000_000_000).quotient }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Returns the moment a duration later.
    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(nanoseconds: time.nanoseconds.adding(duration.nanoseconds))
    }
    /// Returns the moment a duration earlier.
    public static func - (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(nanoseconds: time.nanoseconds.subtracting(duration.nanoseconds))
    }
    /// Returns the duration from `b` to `a`.
    public static func - (a: Timestamp, b: Timestamp) -> Duration {
        .nanoseconds(a.nanoseconds) - .nanoseconds(b.nanoseconds)
    }

    /// Returns the time of the system's wall clock.
    public static func now() -> Timestamp {
        var spec = timespec()
        clock_gettime(CLOCK_REALTIME, &spec)
        return Timestamp(spec)
    }

    /// Creates a moment from a system's time.
    public init(_ spec: timespec) { self.init(seconds: Int64(spec.tv_sec), fraction: Int64(spec.tv_nsec)) }

    /// The moment in RFC 3339 form, in UTC, with as many digits of the second as are needed: `2026-11-21T10:12:00Z`.
    public var description: String {
        let (second, fraction) = nanoseconds.flooredDivision(by: 1_000_000_000)
        let (day, inDay) = second.flooredDivision(by: 86_400)
        let date = CivilDate(daysSince1970: day)
        var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
        text += "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2))"
        if fraction != 0 {
            var digits = padded(fraction, 9)
            while digits.hasSuffix("0") { digits.removeLast() }
            text += "." + digits
        }
        return text + "Z"
    }

    /// The key, among an encoder's user info, of the flag that has times encoded as text (RFC 3339). Without it they are
    /// encoded as numbers.
    public static let asText = CodingUserInfoKey(rawValue: "timesAsText")

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let time = Timestamp(rfc3339: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no time")
            }
            self = time
        } else {
            self.init(nanoseconds: try container.decode(Int64.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let key = Self.asText, encoder.userInfo[key] as? Bool == true {
            try container.encode(description)
        } else {
            try container.encode(nanoseconds)
        }
    }

    /// Parses a time in RFC 3339 form (section 5.6): `2026-11-21T10:12:00.25Z`, `2026-11-21T11:12:00+01:00`.
    /// - Returns: The moment, or nil if the text is not such a time, or the day or time does not exist.
    public init?(rfc3339 text: String) {
        guard let time = text.withBytes({ Timestamp(rfc3339: $0) }) else { return nil }
        self = time
    }

    /// Parses the bytes of such a time.
    init?(rfc3339 bytes: UnsafeRawBufferPointer) {
        var reader = DigitReader(bytes)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2)
        else { return nil }
        var fraction: Int64 = 0
        if reader.skip(".") {
            guard let parsed = reader.fraction() else { return nil }
            fraction = parsed
        }
        var offset: Int64 = 0
        if !(reader.skip("Z") || reader.skip("z")) {
            let sign: Int64 = reader.skip("+") ? 1 : reader.skip("-") ? -1 : 0
            guard sign != 0, let hours = reader.number(2), reader.skip(":"), let minutes = reader.number(2), hours < 24,
                minutes < 60
            else { return nil }
            offset = sign * (hours * 3600 + minutes * 60)
        }
        guard reader.isAtEnd, let whole = Self.seconds(year, month, day, hour, minute, second) else { return nil }
        let sum = Int128(whole - offset) * 1_000_000_000 + Int128(fraction)
        guard let nanoseconds = Int64(exactly: sum) else { return nil }
        self.nanoseconds = nanoseconds
    }

    static func seconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64, _ second: Int64
    ) -> Int64? {
        guard (1...12).contains(month), day >= 1, hour < 24, minute < 60, second <= 60 else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard CivilDate(daysSince1970: date.daysSince1970) == date else { return nil }
        return date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
    }
}

/// A day of the proleptic Gregorian calendar.
struct CivilDate: Equatable {
    var year: Int64
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Years are counted from March, so that the leap day is the last day of a year.
    init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Duration {
    /// The whole nanoseconds. A duration of more than 292 years is cut to that.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return scaled.adding(attoseconds / 1_000_000_000)
    }
}
