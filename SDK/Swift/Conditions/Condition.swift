/// A condition on items, built from parts that the compiler checks. The host gets its ``text``.
///
///     let large: Condition = .size > 1_000_000 && .path.startsWith("/Photos/")
///     let unused: Condition = .cloudStatus == .localCopy && .lastUsed < .now - .seconds(7 * 86_400)
///     let pictures: Condition = !.removed && .mimeType.isIn(["image/jpeg", "image/png"])
///
/// It means what the language of conditions says: what an item does not have is nil, equal only to itself, and every other
/// comparison or test of it is false. Parentheses within each other are at most 200 in what the host reads.
public struct Condition: Sendable {
    /// In the condition language, at most 1 MiB for the host.
    public let text: String
    private let binding: Binding

    /// How tightly its parts hold together, so that parentheses stand only where they must.
    enum Binding: Int { case or, and, relation, unary }

    /// A condition that somebody else wrote, and that the host reads by itself.
    public init(text: String) { self.init(text, .or) }

    init(_ text: String, _ binding: Binding) {
        self.text = text
        self.binding = binding
    }

    private func text(inside outer: Binding) -> String { binding.rawValue < outer.rawValue ? "(\(text))" : text }

    public static func && (left: Condition, right: Condition) -> Condition { all(of: [left, right]) }
    public static func || (left: Condition, right: Condition) -> Condition { any(of: [left, right]) }
    public static prefix func ! (condition: Condition) -> Condition {
        Condition("!" + condition.text(inside: .unary), .unary)
    }

    /// Meets all of the parts; of none: every item does. Of many it is quicker than `&&` between each two.
    public static func all(of parts: [Condition]) -> Condition { group(parts, " && ", .and, ofNone: "true") }

    /// Meets any of the parts; of none: no item does. Of many it is quicker than `||` between each two.
    public static func any(of parts: [Condition]) -> Condition { group(parts, " || ", .or, ofNone: "false") }

    private static func group(
        _ parts: [Condition], _ sign: String, _ binding: Binding, ofNone constant: String
    ) -> Condition {
        if parts.count == 1 { return parts[0] }
        if parts.isEmpty { return Condition(constant, .unary) }
        return Condition(parts.map { $0.text(inside: binding) }.joined(separator: sign), binding)
    }
}
