/// A formatter of dates in HTTP's form (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
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
