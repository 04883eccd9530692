/// A type whose values a property can be compared with: an integer, a text, a boolean, a time, a duration, or a state.
///
/// ```swift
/// let copies: Condition = .cloudStatus == CloudStatus.localCopy
/// ```
public protocol ConditionValue: Sendable {
    /// The value in the condition language.
    var literal: String { get }
}

/// A type whose values can also be compared with `<`, `<=`, `>` and `>=`.
///
/// ```swift
/// let early: Condition = .name < "m"
/// ```
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

extension Coverage: ConditionValue {
    public var literal: String {
        switch self {
        case .none: "\"none\""
        case .direct: "\"direct\""
        case .indirect: "\"indirect\""
        }
    }
}

/// Strings are compared byte by byte in UTF-8, also for order.
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

/// A duration counts in whole milliseconds, truncated, and is at most 292 years.
extension Duration: OrderedConditionValue {
    public var literal: String {
        let longest = Int64.max / 1_000_000
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        var count = overflow ? (seconds < 0 ? -longest : longest) : whole + attoseconds / 1_000_000_000_000_000
        count = min(max(count, -longest), longest)
        return "duration(\"\(Self.text(ofMilliseconds: count))\")"
    }

    /// Returns the duration in the largest unit of which it is a multiple.
    private static func text(ofMilliseconds count: Int64) -> String {
        if count == 0 { return "0s" }
        for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)] as [(String, Int64)]
        where count % length == 0 {
            return "\(count / length)\(unit)"
        }
        return "\(count)ms"
    }
}
