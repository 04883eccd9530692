/// Durations and sizes in the form of the config.
public enum WrittenQuantity {
    private static let durations: [(unit: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    private static let sizes: [(unit: String, bytes: Int64)] = [
        ("B", 1), ("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]

    /// Parses a duration such as `500ms`, `90s`, `10m`, `24h` or `7d`.
    /// - Returns: The number of milliseconds, or nil if the text is not a duration, or longer than 292 years.
    public static func milliseconds(_ text: some StringProtocol) -> Int64? {
        let number = number(text, in: durations.map { ($0.unit, $0.milliseconds) })
        return number.flatMap { $0.magnitude <= Int64.max / 1_000_000 ? $0 : nil }
    }

    /// Parses a size such as `0B`, `700MB`, `20GB` or `16GiB`.
    /// - Returns: The number of bytes, or nil if the text is not a size, or more than 8 EiB.
    public static func bytes(_ text: some StringProtocol) -> Int64? {
        number(text, in: sizes.map { ($0.unit, $0.bytes) })
    }

    /// Returns a size for people, such as `0 B`, `999 B`, `1.2 kB` or `20 GB`. Units are powers of 1000, and the number
    /// has two digits or more.
    public static func rough(bytes: Int64) -> String {
        var value = Double(bytes)
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 || value >= 9.95 { return "\(Int64(value.rounded())) \(units[unit])" }
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static func number(_ text: some StringProtocol, in units: [(String, Int64)]) -> Int64? {
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.dropFirst(sign.count).prefix { $0.isASCII && $0.isNumber }
        let written = text.dropFirst(sign.count + digits.count)
        guard let unit = units.first(where: { $0.0 == written }), let number = Int64(sign + digits) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.1)
        return overflow ? nil : product
    }
}
