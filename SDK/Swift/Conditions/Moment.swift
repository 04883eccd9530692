/// A time, as conditions compare it.
///
/// ```swift
/// let since2026: Condition = .lastModified >= .at(1_767_225_600_000_000_000)
/// ```
public struct Moment: Hashable, Sendable {
    /// The time in nanoseconds since 1970 UTC.
    public let nanoseconds: Int64

    /// Creates a moment from nanoseconds since 1970 UTC.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a moment.
    /// - Parameter nanoseconds: Nanoseconds since 1970 UTC, as items and the clock have them.
    public static func at(_ nanoseconds: Int64) -> Moment { Moment(nanoseconds: nanoseconds) }
}

extension Moment: OrderedConditionValue {
    /// The moment as RFC 3339 text in UTC. A moment before 1677-09-21T00:12:44Z becomes that one, the earliest of the
    /// condition language.
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

    /// Computes a date of the proleptic Gregorian calendar. Counting in eras of 400 years that begin in March puts the
    /// leap day at the end of a year.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Days since 0000-03-01. Every representable moment is after that day.
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
