/// A condition on items, built from parts that the compiler checks. The host gets its ``text``.
///
/// ```swift
/// let large: Condition = .size > 1_000_000 && .path.startsWith("/Photos/")
/// let unused: Condition = .cloudStatus == .localCopy && .lastUsed < .now - .seconds(7 * 86_400)
/// let pictures: Condition = !.removed && .mimeType.isIn(["image/jpeg", "image/png"])
/// ```
///
/// It has the meaning of the condition language: a property without a value is nil. Nil equals only nil, and every
/// other comparison or test of it is false. The host reads parentheses that are nested at most 200 levels deep.
public struct Condition: Sendable {
    /// The condition in the condition language. The host reads at most 1 MiB.
    public let text: String
    private let binding: Binding

    /// The precedence of the outermost operator, which decides where parentheses are needed.
    enum Binding: Int { case or, and, relation, unary }

    /// Creates a condition from a text that somebody else wrote. The SDK does not check it; the host does.
    public init(text: String) { self.init(text, .or) }

    init(_ text: String, _ binding: Binding) {
        self.text = text
        self.binding = binding
    }

    private func text(inside outer: Binding) -> String { binding.rawValue < outer.rawValue ? "(\(text))" : text }

    /// Returns a condition that an item meets if it meets both conditions.
    public static func && (left: Condition, right: Condition) -> Condition { all(of: [left, right]) }
    /// Returns a condition that an item meets if it meets at least one of the conditions.
    public static func || (left: Condition, right: Condition) -> Condition { any(of: [left, right]) }
    /// Returns a condition that an item meets if it does not meet the given one.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition("!" + condition.text(inside: .unary), .unary)
    }

    /// Returns a condition that an item meets if it meets all of the parts. Without parts, every item meets it. For
    /// many parts it is quicker than `&&` between each two.
    public static func all(of parts: [Condition]) -> Condition { group(parts, " && ", .and, ofNone: "true") }

    /// Returns a condition that an item meets if it meets at least one of the parts. Without parts, no item meets it.
    /// For many parts it is quicker than `||` between each two.
    public static func any(of parts: [Condition]) -> Condition { group(parts, " || ", .or, ofNone: "false") }

    private static func group(
        _ parts: [Condition], _ sign: String, _ binding: Binding, ofNone constant: String
    ) -> Condition {
        if parts.count == 1 { return parts[0] }
        if parts.isEmpty { return Condition(constant, .unary) }
        return Condition(parts.map { $0.text(inside: binding) }.joined(separator: sign), binding)
    }
}
