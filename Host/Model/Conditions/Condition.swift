/// Which items are meant: a question about an item that is answered yes or no.
///
/// The language has the syntax of CEL and two-valued logic: `==` and `!=` treat an absent value as one that is equal only
/// to itself, every other comparison or test with an absent operand is false, and `!` negates the result. Text is compared
/// byte by byte in UTF-8. A condition is answered here in memory and, as SQL, by the database, with one meaning.
///
/// ```swift
/// let pinned = try Condition(parsing: #"path == "/Photos" || path.startsWith("/Photos/")"#)
/// let wanted = Condition.allOf([.not(.property(.removed)), pinned])
/// wanted.text  // !removed && (path == "/Photos" || path.startsWith("/Photos/"))
/// ```
///
/// Comparisons and tests are made by the parser, which checks their types; groups by ``anyOf(_:)`` and ``allOf(_:)``.
public indirect enum Condition: Hashable, Sendable {
    case constant(Bool)
    /// A property that is true or false, standing alone.
    case property(Property)
    case comparison(Comparison)
    case membership(Membership)
    case text(TextTest)
    /// At least one of two or more holds. Made by ``anyOf(_:)``.
    case any([Condition])
    /// Each of two or more holds. Made by ``allOf(_:)``.
    case all([Condition])
    case not(Condition)

    /// At least one of the terms holds; false when there are none. Terms that are such groups themselves are taken apart.
    public static func anyOf(_ terms: [Condition]) -> Condition {
        var flat: [Condition] = []
        for term in terms {
            if case .any(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count > 1 ? .any(flat) : flat.first ?? .constant(false)
    }

    /// Each of the terms holds; true when there are none. Terms that are such groups themselves are taken apart.
    public static func allOf(_ terms: [Condition]) -> Condition {
        var flat: [Condition] = []
        for term in terms {
            if case .all(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count > 1 ? .all(flat) : flat.first ?? .constant(true)
    }

    /// The longest text that is parsed, in bytes.
    public static let longestText = 1 << 20
    /// How many parentheses and `!` may stand within each other.
    public static let deepestNesting = 200
    /// How many `+` and `-` a value may have.
    public static let longestSum = 8
}

extension Condition {
    /// How two values are compared.
    public enum Relation: String, Sendable, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// Whether it asks for order, not only for sameness.
        public var isOrdering: Bool { self != .equal && self != .unequal }
    }

    /// Two values of one type, or one that may be `null`.
    public struct Comparison: Hashable, Sendable {
        public let left: Operand
        public let relation: Relation
        public let right: Operand

        /// For what keeps the types as the parser checked them.
        package init(left: Operand, relation: Relation, right: Operand) {
            self.left = left
            self.relation = relation
            self.right = right
        }
    }

    /// Whether a value equals one of a list's, which are all of its type or `null`, and none of which depends on the item.
    public struct Membership: Hashable, Sendable {
        public let value: Operand
        public let list: [Operand]

        /// For what keeps the types as the parser checked them.
        package init(value: Operand, list: [Operand]) {
            self.value = value
            self.list = list
        }
    }

    /// Where one text is looked for in another.
    public enum TextPlace: String, Sendable, CaseIterable {
        case start = "startsWith"
        case end = "endsWith"
        case anywhere = "contains"
    }

    /// Whether a text has another at a place.
    public struct TextTest: Hashable, Sendable {
        public let text: Operand
        public let place: TextPlace
        public let part: Operand

        /// For what keeps the types as the parser checked them.
        package init(text: Operand, place: TextPlace, part: Operand) {
            self.text = text
            self.place = place
            self.part = part
        }
    }
}
