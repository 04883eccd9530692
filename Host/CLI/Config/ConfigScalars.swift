import Model

/// The conversion of the config's single values. A text that YAML 1.1 would convert to another type stays a text.
enum ConfigScalar {
    static func duration(_ text: String, atLeast least: Duration = .zero) throws(Wrong) -> Duration {
        guard let milliseconds = WrittenQuantity.milliseconds(text), milliseconds >= 0 else {
            throw Wrong("`\(text)` is not a duration; write it like 500ms, 90s, 10m, 24h or 7d")
        }
        guard milliseconds <= 36_500 * 86_400_000 else {
            throw Wrong("`\(text)` is longer than a hundred years")
        }
        let duration = Duration.milliseconds(milliseconds)
        guard duration >= least else { throw Wrong("`\(text)` is too short; the minimum is \(write(least))") }
        return duration
    }

    /// Returns the shortest text that reads as the duration, in whole milliseconds.
    static func write(_ duration: Duration) -> String {
        let milliseconds = duration.nanoseconds / 1_000_000
        let units: [(String, Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        for (unit, length) in units where milliseconds != 0 && milliseconds % length == 0 {
            return "\(milliseconds / length)\(unit)"
        }
        return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    }

    static func size(_ text: String) throws(Wrong) -> Int64 {
        guard let bytes = WrittenQuantity.bytes(text), bytes >= 0 else {
            throw Wrong("`\(text)` is not a size; write it like 0B, 700MB, 20GB or 16GiB")
        }
        return bytes
    }

    /// Parses a limit in bytes per second.
    static func rate(_ text: String) throws(Wrong) -> Int64 {
        let bytes = try size(text)
        guard bytes > 0 else { throw Wrong("`\(text)` lets nothing through; leave it out to set no limit") }
        return bytes
    }

    /// Returns the shortest text that reads as the size.
    static func writeSize(_ bytes: Int64) -> String {
        let units: [(String, Int64)] = [
            ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("TiB", 1 << 40),
            ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
        ]
        for (unit, size) in units where bytes != 0 && bytes % size == 0 { return "\(bytes / size)\(unit)" }
        return "\(bytes)B"
    }

    static func bool(_ text: String, isPlain: Bool) throws(Wrong) -> Bool {
        guard isPlain, text == "true" || text == "false" else {
            throw Wrong("`\(text)` is neither true nor false; write true or false, without quotes")
        }
        return text == "true"
    }

    static func int(_ text: String, in range: ClosedRange<Int>) throws(Wrong) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Wrong("`\(text)` is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Parses a share such as `50%` or `12.5%`.
    static func share(_ text: String) throws(Wrong) -> Double {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent >= 0, percent <= 100,
            text.utf8.dropLast().allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") })
        else { throw Wrong("`\(text)` is not a share; write it like 50%") }
        return percent / 100
    }

    /// Returns the shortest text that reads as the share.
    static func writeShare(_ share: Double) -> String {
        let percent = share * 100
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }

    /// Returns the text if it is one of the given words.
    static func word(_ text: String, of words: [String]) throws(Wrong) -> String {
        if words.contains(text) { return text }
        let meant = nearestName(to: text, among: words).map { "; did you mean `\($0)`?" } ?? ""
        throw Wrong("`\(text)` is not one of \(words.joined(separator: ", "))\(meant)")
    }

    static func word<Value: RawRepresentable & CaseIterable>(
        _ text: String, of type: Value.Type
    ) throws(Wrong) -> Value where Value.RawValue == String {
        let words = type.allCases.map(\.rawValue)
        guard let value = Value(rawValue: try word(text, of: words)) else { throw Wrong("`\(text)` is unknown") }
        return value
    }

    /// Parses a certificate's SHA-256 fingerprint as `openssl x509 -fingerprint -sha256` prints it, or its 64 digits
    /// alone.
    static func fingerprint(_ text: String) throws(Wrong) -> [UInt8] {
        let digits = (text.split(separator: "=").last ?? "").filter { $0 != ":" }
        let bytes = stride(from: 0, to: digits.utf8.count - 1, by: 2).compactMap { position -> UInt8? in
            UInt8(String(decoding: digits.utf8.dropFirst(position).prefix(2), as: UTF8.self), radix: 16)
        }
        guard digits.utf8.count == 64, digits.allSatisfy(\.isHexDigit), bytes.count == 32 else {
            throw Wrong("this is not a SHA-256 fingerprint; `openssl x509 -noout -fingerprint -sha256` prints one")
        }
        return bytes
    }
}
