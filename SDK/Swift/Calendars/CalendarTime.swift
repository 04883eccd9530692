/// A DATE or DATE-TIME (RFC 5545, sections 3.3.4 and 3.3.5).
///
/// ```swift
/// let day = CalendarTime(secondsSince1970: 1_772_359_200, isWholeDay: true)
/// let text = day?.basicText ?? ""
/// ```
public struct CalendarTime: Hashable, Sendable {
    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    private var day: Int64
    /// Seconds since midnight. Nil: a whole day.
    private var second: Int64?
    private var isUTC = false
    private var zone: String?

    /// Creates a moment, or the day that it falls on in UTC. Nil outside of the years 0 to 9999.
    public init?(secondsSince1970 seconds: Int64, isWholeDay: Bool = false) {
        day = seconds.flooredDivision(by: 86_400)
        guard Self.days.contains(day) else { return nil }
        if !isWholeDay {
            second = seconds - day * 86_400
            isUTC = true
        }
    }

    /// Parses the value of a property. Nil if it is not a time.
    public init?(_ line: ContentLine) {
        let text = Array(line.value.utf8)
        guard text.count >= 8, let year = Self.number(text[0..<4]), let month = Self.number(text[4..<6]),
            let date = Self.number(text[6..<8]), (1...12).contains(month),
            (1...Self.days(in: month, of: year)).contains(date)
        else { return nil }
        day = Self.day(year, month, date)
        guard text.count > 8 else { return }
        isUTC = text.count == 16 && text[15] == UInt8(ascii: "Z")
        guard text.count == 15 || isUTC, text[8] == UInt8(ascii: "T"), let hour = Self.number(text[9..<11]),
            let minute = Self.number(text[11..<13]), let second = Self.number(text[13..<15]), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        self.second = hour * 3600 + minute * 60 + min(second, 59)
        if !isUTC, let zone = line.parameter("TZID"), zone.utf8.count <= 255 { self.zone = zone }
    }

    /// Returns the time that is later by a number of seconds, in the same time zone and ignoring its changes. Nil past
    /// the year 9999, or if the result for a whole day is not a whole day.
    func after(seconds: Int64) -> CalendarTime? {
        var later = self
        let total = (second ?? 0) + seconds
        let (days, rest) = (total.flooredDivision(by: 86_400), total - total.flooredDivision(by: 86_400) * 86_400)
        guard second != nil || rest == 0 else { return nil }
        later.day += days
        if second != nil { later.second = rest }
        return Self.days.contains(later.day) ? later : nil
    }

    private static let days = day(0, 1, 1)...day(9999, 12, 31)

    /// The time as a property's value: `20260301T100000Z`, or `20260301`. It omits the time zone.
    public var basicText: String {
        let (year, month, date) = Self.date(day)
        let dateText = Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(date, 2)
        guard let second else { return dateText }
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined()
        return "\(dateText)T\(time)" + (isUTC ? "Z" : "")
    }

    /// The time in the form of ``CalendarEntry/start``.
    public var text: String {
        let (year, month, date) = Self.date(day)
        let dateText = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(date, 2))"
        guard let second else { return dateText }
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(dateText)T\(time)" + (isUTC ? "Z" : zone.map { "[\($0)]" } ?? "")
    }

    /// Parses a duration (RFC 5545, section 3.3.6) in seconds. Nil if the text is not a duration.
    static func seconds(ofDuration text: String) -> Int64? {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
        var (total, isTime): (Int64, Bool) = (0, false)
        while let byte = rest.first {
            if byte == UInt8(ascii: "T"), !isTime {
                isTime = true
                rest = rest.dropFirst()
                continue
            }
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard (1...9).contains(digits.count), let amount = number(digits), let unit = rest.popFirst() else {
                return nil
            }
            switch unit {
            case UInt8(ascii: "W") where !isTime: total += amount * 604_800
            case UInt8(ascii: "D") where !isTime: total += amount * 86_400
            case UInt8(ascii: "H") where isTime: total += amount * 3_600
            case UInt8(ascii: "M") where isTime: total += amount * 60
            case UInt8(ascii: "S") where isTime: total += amount
            default: return nil
            }
            guard total < 1 << 40 else { return nil }
        }
        return isNegative ? -total : total
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Computes the day's number. Counting in years that begin in March makes the leap day a year's last day.
    private static func day(_ year: Int64, _ month: Int64, _ date: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted.flooredDivision(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + date - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(_ day: Int64) -> (year: Int64, month: Int64, date: Int64) {
        let shifted = day + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
