/// What a property can be compared with.
public protocol ConditionValue: Sendable {
    /// As the condition language writes it.
    var literal: String { get }
}

/// What has an order besides.
public protocol OrderedConditionValue: ConditionValue {}

extension Int64: OrderedConditionValue {
    public var literal: String { String(self) }
}

extension Bool: ConditionValue {
    public var literal: String { self ? "true" : "false" }
}

extension ItemType: ConditionValue {
    public var literal: String { self == .file ? "\"file\"" : "\"folder\"" }
}

extension CloudStatus: ConditionValue {
    public var literal: String {
        switch self {
        case .cloudOnly: "\"cloudOnly\""
        case .localCopy: "\"localCopy\""
        case .locallyModified: "\"locallyModified\""
        case .localOnly: "\"localOnly\""
        }
    }
}

extension RemoteVersion: ConditionValue {
    public var literal: String { self == .current ? "\"current\"" : "\"newer\"" }
}

/// Compared byte by byte in UTF-8, for order too.
extension String: OrderedConditionValue {
    public var literal: String {
        var literal = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                literal += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}

/// In whole milliseconds, what is below them cut off; at most 292 years.
extension Duration: OrderedConditionValue {
    public var literal: String {
        let longest = Int64.max / 1_000_000
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        var count = overflow ? (seconds < 0 ? -longest : longest) : whole + attoseconds / 1_000_000_000_000_000
        count = min(max(count, -longest), longest)
        return "duration(\"\(Self.text(ofMilliseconds: count))\")"
    }

    /// In the largest unit that leaves no rest.
    private static func text(ofMilliseconds count: Int64) -> String {
        if count == 0 { return "0s" }
        for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)] as [(String, Int64)]
        where count % length == 0 {
            return "\(count / length)\(unit)"
        }
        return "\(count)ms"
    }
}
