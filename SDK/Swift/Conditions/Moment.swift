/// A time, as conditions compare it.
public struct Moment: Hashable, Sendable {
    /// Since 1970 UTC.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// - Parameter nanoseconds: since 1970 UTC, as items and the clock have them.
    public static func at(_ nanoseconds: Int64) -> Moment { Moment(nanoseconds: nanoseconds) }
}

extension Moment: OrderedConditionValue {
    /// RFC 3339 in UTC. What lies before the year 1678 is its begin as the language has it.
    public var literal: String {
        let first: Int64 = -9_223_372_036
        var (second, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if fraction < 0 { (second, fraction) = (second - 1, fraction + 1_000_000_000) }
        if second < first { (second, fraction) = (first, 0) }
        var (day, inDay) = second.quotientAndRemainder(dividingBy: 86_400)
        if inDay < 0 { (day, inDay) = (day - 1, inDay + 86_400) }
        let date = Self.date(daysSince1970: day)
        var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
        text += "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2))"
        if fraction != 0 {
            var digits = padded(fraction, 9)
            while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
            text += "." + digits
        }
        return "timestamp(\"\(text)Z\")"
    }

    /// The proleptic Gregorian calendar, counted in eras of 400 years that begin in March, so that a leap day ends a year.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From 0000-03-01; all that can be told lies after it.
        let days = daysSince1970 + 719_468
        let (era, inEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearInEra = (inEra - inEra / 1_460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100)
        let monthFromMarch = (5 * inYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            era * 400 + yearInEra + (month <= 2 ? 1 : 0), month, inYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
