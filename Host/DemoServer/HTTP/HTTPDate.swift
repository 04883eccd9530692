/// A formatter and reader of dates in HTTP's form (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns a time in HTTP's form.
    /// - Parameter seconds: The time in seconds since 1970 UTC.
    static func text(_ seconds: Int64) -> String {
        let (day, second) = seconds.quotientAndRemainder(flooringBy: 86_400)
        let (year, month, dayOfMonth) = civil(day)
        let weekday = Int(day.quotientAndRemainder(flooringBy: 7).remainder)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { twoDigits(Int($0)) }.joined(separator: ":")
        return "\(days[weekday]), \(twoDigits(dayOfMonth)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// Reads a date in HTTP's form; nil if the text is no such date.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, let month = months.firstIndex(of: String(parts[2])), let day = Int64(parts[1]),
            let year = Int64(parts[3]), parts[5] == "GMT", (1...31).contains(day), (0...9_999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        return number(year, month + 1, day) * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }

    /// Returns the number of a civil date's day, as ``civil(_:)`` counts.
    private static func number(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = year.quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * ((Int64(month) + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the civil date of a day number, counted in eras of 400 years that begin on the first of March.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int, day: Int) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), Int(month), Int(dayOfYear - (153 * shifted + 2) / 5 + 1))
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    fileprivate func quotientAndRemainder(flooringBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
