extension Timestamp {
    /// Parses the date in an HTTP header or in `getlastmodified`: the three forms of RFC 9110, section 5.6.7, and what
    /// servers send beside them, which is a day without its zero, an offset in place of `GMT`, no weekday, and RFC 3339.
    ///
    /// The weekday is not looked at. A year of two digits is one of 1970 to 2069.
    /// - Returns: The moment, or nil if the text is not such a date, as one in another language, or the day or time does
    ///   not exist.
    public init?(httpDate text: String) {
        let time: Timestamp? = text.withBytes { bytes in
            if let time = Timestamp(rfc3339: bytes) { return time }
            var reader = DigitReader(bytes)
            let hasComma = reader.skip(through: UInt8(ascii: ","))
            reader.skipBlanks()
            let startsWithDay = hasComma || reader.next.map { (0x30...0x39).contains($0) } ?? false
            return startsWithDay ? reader.internetDate() : reader.asctime()
        }
        guard let time else { return nil }
        self = time
    }

    /// The date in the form of HTTP, in whole seconds.
    public var httpDate: String {
        let (second, _) = nanoseconds.flooredDivision(by: 1_000_000_000)
        let (day, inDay) = second.flooredDivision(by: 86_400)
        let date = CivilDate(daysSince1970: day)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(day.flooredDivision(by: 7).remainder)]
        return "\(weekday), \(padded(date.day, 2)) \(months[Int(date.month) - 1]) \(padded(date.year, 4)) "
            + "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2)) GMT"
    }
}

private let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

private let zones: [StaticString] = ["GMT", "UTC", "UT", "Z"]

extension Slice<UnsafeRawBufferPointer> {
    /// Tells whether these letters are a word, whatever their case.
    fileprivate func isWord(_ word: StaticString) -> Bool {
        count == word.utf8CodeUnitCount
            && enumerated().allSatisfy { $0.element | 0x20 == word.utf8Start[$0.offset] | 0x20 }
    }
}

extension DigitReader {
    /// Reads `06 Nov 1994 08:49:37 GMT`, `06-Nov-94 08:49:37 GMT` or `6 Nov 1994 09:49:37 +0100`.
    fileprivate mutating func internetDate() -> Timestamp? {
        guard let day = number(2) ?? number(1), skip(" ") || skip("-"), let month = month(), skip(" ") || skip("-"),
            let year = number(4) ?? number(2).map({ $0 < 70 ? 2000 + $0 : 1900 + $0 }), skip(" "),
            let (hour, minute, second) = timeOfDay(), let offset = offset(),
            let whole = Timestamp.seconds(year, month, day, hour, minute, second)
        else { return nil }
        return Timestamp(seconds: whole - offset)
    }

    /// Reads `Sun Nov  6 08:49:37 1994`.
    fileprivate mutating func asctime() -> Timestamp? {
        guard !letters().isEmpty, skip(" "), let month = month(), skip(" ") else { return nil }
        skipBlanks()
        guard let day = number(2) ?? number(1), skip(" "), let (hour, minute, second) = timeOfDay(), skip(" "),
            let year = number(4), let whole = Timestamp.seconds(year, month, day, hour, minute, second)
        else { return nil }
        skipBlanks()
        return isAtEnd ? Timestamp(seconds: whole) : nil
    }

    private mutating func month() -> Int64? {
        let name = letters()
        return months.firstIndex { name.isWord($0) }.map { Int64($0 + 1) }
    }

    private mutating func timeOfDay() -> (hour: Int64, minute: Int64, second: Int64)? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else {
            return nil
        }
        return (hour, minute, second)
    }

    /// Reads the zone at the end, which is `GMT`, `UTC`, `UT`, `Z`, an offset or nothing, and returns its offset in
    /// seconds.
    private mutating func offset() -> Int64? {
        skipBlanks()
        var offset: Int64 = 0
        if let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : nil {
            guard let hours = number(2), skip(":") || true, let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            offset = sign * (hours * 3600 + minutes * 60)
        } else {
            let zone = letters()
            guard zone.isEmpty || zones.contains(where: { zone.isWord($0) }) else { return nil }
        }
        skipBlanks()
        return isAtEnd ? offset : nil
    }
}
