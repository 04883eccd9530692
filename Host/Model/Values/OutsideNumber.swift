/// Numbers as servers, files and plugins write them, bounded where they are read: nothing that is reckoned with them later can
/// overflow on its own. Sums of many saturate (``Swift/FixedWidthInteger/adding(_:)``).
public enum OutsideNumber {
    /// In bytes: no file is larger than an exbibyte.
    public static let largestSize: Int64 = 1 << 60
    /// A server that asks to be left alone for longer than a day is asked again after a day.
    public static let longestWait: Duration = .seconds(86_400)

    /// A number of bytes, of digits alone.
    /// - Returns: nil if the text is none, or says more than any file has: such a size is not told.
    public static func size(_ text: some StringProtocol) -> Int64? {
        guard let number = digits(text), number <= largestSize else { return nil }
        return number
    }

    /// How long to wait, as a server says it in seconds, of digits alone.
    /// - Returns: nil if the text is none.
    public static func wait(seconds text: some StringProtocol) -> Duration? {
        digits(text).map { min(.seconds($0), longestWait) }
    }

    /// The number that digits are; nil if there is anything else, or nothing. One that is too large is the largest.
    private static func digits(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}

extension FixedWidthInteger {
    /// The sum; the nearest number where there is none.
    public func adding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference; the nearest number where there is none.
    public func subtracting(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Int64 {
    /// The nearest whole number; 0 for what is none.
    public init(nearest number: Double) {
        self = Int64(exactly: number.rounded()) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
