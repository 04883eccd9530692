/// A condition on items, built from parts that the compiler checks. The host gets its ``text``.
///
///     let large: Condition = .type == .file && .size > 1_000_000 && !.removed
public struct Condition: Sendable {
    /// In the condition language.
    public let text: String
    /// How tightly its parts hold together, so that parentheses stand only where they must.
    private let binding: Binding

    private enum Binding: Int { case or, and, unit }

    /// A condition that somebody else wrote.
    public init(text: String) { self.init(text, .or) }

    private init(_ text: String, _ binding: Binding) {
        self.text = text
        self.binding = binding
    }

    init(term: String) { self.init(term, .unit) }

    private func text(inside outer: Binding) -> String { binding.rawValue < outer.rawValue ? "(\(text))" : text }

    public static func && (left: Condition, right: Condition) -> Condition { all(of: [left, right]) }
    public static func || (left: Condition, right: Condition) -> Condition { any(of: [left, right]) }
    public static prefix func ! (condition: Condition) -> Condition {
        // A comparison binds weaker than the sign.
        condition.isName ? Condition("!\(condition.text)", .unit) : Condition("!(\(condition.text))", .unit)
    }

    private var isName: Bool {
        text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
    }

    /// Meets all of the parts; of none: every item does.
    public static func all(of parts: [Condition]) -> Condition {
        if parts.isEmpty { return Condition("true", .unit) }
        if parts.count == 1 { return parts[0] }
        return Condition(parts.map { $0.text(inside: .and) }.joined(separator: " && "), .and)
    }

    /// Meets any of the parts; of none: no item does.
    public static func any(of parts: [Condition]) -> Condition {
        if parts.isEmpty { return Condition("false", .unit) }
        if parts.count == 1 { return parts[0] }
        return Condition(parts.map(\.text).joined(separator: " || "), .or)
    }
}
