extension Condition: CustomStringConvertible {
    /// The condition in its language. Parsing the text gives the same condition.
    public var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    public var description: String { text }

    private func write(to text: inout String) {
        switch self {
        case .constant(let value): text += value ? "true" : "false"
        case .property(let property): text += property.rawValue
        case .comparison(let comparison):
            comparison.left.write(to: &text)
            text += " \(comparison.relation.rawValue) "
            comparison.right.write(to: &text)
        case .membership(let membership):
            membership.value.write(to: &text)
            text += " in ["
            for (position, element) in membership.list.enumerated() {
                if position > 0 { text += ", " }
                element.write(to: &text)
            }
            text += "]"
        case .text(let test):
            test.text.write(to: &text)
            text += ".\(test.place.rawValue)("
            test.part.write(to: &text)
            text += ")"
        case .activity(let activity):
            text += "\"\(activity.names.joined())\" in \(Property.syncActivity.rawValue)"
        case .resolved(let term, _): term.write(to: &text)
        case .any(let terms): Self.write(terms, joinedBy: " || ", orWhenEmpty: false, to: &text)
        case .all(let terms): Self.write(terms, joinedBy: " && ", orWhenEmpty: true, to: &text)
        case .not(let term):
            text += "!"
            term.write(inParentheses: term.binding < .unary, to: &text)
        }
    }

    private static func write(
        _ terms: [Condition], joinedBy separator: String, orWhenEmpty constant: Bool, to text: inout String
    ) {
        if terms.isEmpty { text += constant ? "true" : "false" }
        for (position, term) in terms.enumerated() {
            if position > 0 { text += separator }
            // An `&&` inside an `||` needs no parentheses.
            term.write(inParentheses: terms.count > 1 && term.binding < (constant ? .relation : .and), to: &text)
        }
    }

    private func write(inParentheses: Bool, to text: inout String) {
        if inParentheses { text += "(" }
        write(to: &text)
        if inParentheses { text += ")" }
    }

    /// The strength with which a term binds its parts.
    private enum Binding: Int, Comparable {
        case or, and, relation, unary
        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private var binding: Binding {
        switch self {
        case .any: .or
        case .all: .and
        case .comparison, .membership, .activity: .relation
        case .resolved(let term, _): term.binding
        case .constant, .property, .text, .not: .unary
        }
    }
}

extension Condition.Operand {
    fileprivate func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .text(let literal): Self.write(literal.text, to: &text)
        case .integer(let number): text += String(number)
        case .boolean(let value): text += value ? "true" : "false"
        case .time(let time): text += "timestamp(\"\(time)\")"
        case .duration(let milliseconds): text += "duration(\"\(Self.text(ofMilliseconds: milliseconds))\")"
        case .now: text += "now"
        case .property(let property): text += property.rawValue
        case .sum(let a, let b): Self.write(a, "+", b, to: &text)
        case .difference(let a, let b): Self.write(a, "-", b, to: &text)
        }
    }

    private static func write(_ a: Self, _ sign: String, _ b: Self, to text: inout String) {
        a.write(to: &text)
        text += " \(sign) "
        switch b {
        case .sum, .difference:
            text += "("
            b.write(to: &text)
            text += ")"
        default: b.write(to: &text)
        }
    }

    /// Writes a duration in the largest unit that leaves no remainder.
    private static func text(ofMilliseconds count: Int64) -> String {
        for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1000)] as [(String, Int64)]
        where count % length == 0 && count != 0 {
            return "\(count / length)\(unit)"
        }
        return count == 0 ? "0s" : "\(count)ms"
    }

    private static func write(_ literal: String, to text: inout String) {
        text += "\""
        for scalar in literal.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\0"..<" ", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
