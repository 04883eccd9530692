/// Numbers from servers, files and plugins, bounded where they are read. A later calculation with one such number
/// cannot overflow. Sums of many saturate (``Swift/FixedWidthInteger/adding(_:)``).
public enum OutsideNumber {
    /// The largest size in bytes. No file is larger than an exbibyte.
    public static let largestSize: Int64 = 1 << 60
    /// The longest wait that a server can ask for. A server that asks for more than a day gets the next request after a
    /// day.
    public static let longestWait: Duration = .seconds(86_400)

    /// Parses a number of bytes that consists of digits only.
    /// - Returns: The size, or nil if the text is not such a number or exceeds the size of any file: such a size counts
    ///   as not reported.
    public static func size(_ text: some StringProtocol) -> Int64? {
        guard let number = digits(text), number <= largestSize else { return nil }
        return number
    }

    /// Parses a server's wait in seconds that consists of digits only.
    /// - Returns: The wait, at most ``longestWait``, or nil if the text is not such a number.
    public static func wait(seconds text: some StringProtocol) -> Duration? {
        digits(text).map { min(.seconds($0), longestWait) }
    }

    /// Parses a number that consists of digits only. Returns nil for any other text and for an empty one. A number that
    /// is too large becomes the largest.
    private static func digits(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        var isTooLarge = false
        for digit in text.utf8 {
            guard (0x30...0x39).contains(digit) else { return nil }
            let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsAfter) = tens.addingReportingOverflow(Int64(digit &- 0x30))
            isTooLarge = isTooLarge || overflows || overflowsAfter
            number = sum
        }
        return isTooLarge ? .max : number
    }
}

extension FixedWidthInteger {
    /// Returns the sum, or the nearest number if the sum is out of range.
    public func adding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest number if the difference is out of range.
    public func subtracting(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Int64 {
    /// Creates the nearest whole number, or 0 if `number` is not a number.
    public init(nearest number: Double) {
        self = Int64(exactly: number.rounded()) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
