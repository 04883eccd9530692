/// A function that turns a text into a value.
enum ConditionFunction: String, CaseIterable {
    case timestamp, duration

    func value(of argument: String, at offset: Int) throws(ConditionFault) -> Condition.Operand {
        switch self {
        case .timestamp:
            guard let time = Timestamp(rfc3339: argument) else {
                throw ConditionFault(
                    .syntax, at: offset, "this is not a time between the years 1678 and 2261 in RFC 3339",
                    hint: "write it as 2026-11-21T10:12:00Z")
            }
            return .time(time)
        case .duration:
            guard let milliseconds = Self.milliseconds(argument) else {
                throw ConditionFault(
                    .syntax, at: offset, "this is not a duration below 292 years",
                    hint: "write it in h, m, s and ms, as 168h or 1h30m")
            }
            return .duration(milliseconds: milliseconds)
        }
    }

    /// Returns the milliseconds of a duration such as `168h`, `1h30m` or `-500ms`: whole numbers with units. Returns
    /// nil if the text is not a duration, or too long for a number of nanoseconds.
    private static func milliseconds(_ text: String) -> Int64? {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        guard !rest.isEmpty else { return nil }
        var total: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { !(0x30...0x39).contains($0) }
            rest = rest.dropFirst(unit.count)
            let length: Int64? =
                switch String(unit) {
                case "h": 3_600_000
                case "m": 60_000
                case "s": 1000
                case "ms": 1
                default: nil
                }
            guard let length, let count = String(digits).flatMap({ Int64($0) }) else { return nil }
            let (scaled, tooLong) = count.multipliedReportingOverflow(by: length)
            let (sum, overflow) = total.addingReportingOverflow(scaled)
            guard !tooLong, !overflow, sum <= Int64.max / 1_000_000 else { return nil }
            total = sum
        }
        return isNegative ? -total : total
    }
}
