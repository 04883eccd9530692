/// A condition that an item either meets or does not meet.
///
/// The language has the syntax of CEL and two-valued logic. `==` and `!=` treat an absent value as a value that is
/// equal only to itself. Every other comparison or test with an absent operand is false. `!` negates the result. Text
/// is compared byte by byte in UTF-8. A condition can be evaluated here in memory and, as SQL, by the database, with
/// one meaning.
///
/// ```swift
/// let pinned = try Condition(parsing: #"path == "/Photos" || path.startsWith("/Photos/")"#)
/// let wanted = Condition.allOf([.not(.property(.removed)), pinned])
/// wanted.text  // !removed && (path == "/Photos" || path.startsWith("/Photos/"))
/// ```
///
/// The parser creates comparisons and tests, and checks their types. ``anyOf(_:)`` and ``allOf(_:)`` create groups.
public indirect enum Condition: Hashable, Sendable {
    case constant(Bool)
    /// A boolean property that stands alone.
    case property(Property)
    case comparison(Comparison)
    case membership(Membership)
    case text(TextTest)
    /// A test whether one activity is under way for the item: one of the names in `syncActivity`.
    case activity(SyncActivity)
    /// A term that an item's row alone does not answer, and the condition with the same result that the row answers.
    /// Created by ``ItemCondition/resolved(by:)``. The text is that of the term.
    case resolved(Condition, as: Condition)
    /// A group of two or more terms of which at least one must hold. Created by ``anyOf(_:)``.
    case any([Condition])
    /// A group of two or more terms that must all hold. Created by ``allOf(_:)``.
    case all([Condition])
    case not(Condition)

    /// Returns the condition that at least one of the terms holds. Without terms the condition is false. The terms of
    /// nested groups of this kind become terms of the new group.
    public static func anyOf(_ terms: [Condition]) -> Condition {
        var flat: [Condition] = []
        for term in terms {
            if case .any(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count > 1 ? .any(flat) : flat.first ?? .constant(false)
    }

    /// Returns the condition that all terms hold. Without terms the condition is true. The terms of nested groups of
    /// this kind become terms of the new group.
    public static func allOf(_ terms: [Condition]) -> Condition {
        var flat: [Condition] = []
        for term in terms {
            if case .all(let inner) = term { flat += inner } else { flat.append(term) }
        }
        return flat.count > 1 ? .all(flat) : flat.first ?? .constant(true)
    }

    /// The length of the longest text that is parsed, in bytes.
    public static let longestText = 1 << 20
    /// The number of parentheses and `!` that may be nested.
    public static let deepestNesting = 200
    /// The number of `+` and `-` that a value may have.
    public static let longestSum = 8
}

extension Condition {
    /// The relation that a comparison tests.
    public enum Relation: String, Sendable, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// Whether the relation requires an order, not only equality.
        public var isOrdering: Bool { self != .equal && self != .unequal }
    }

    /// A comparison of two values of one type, of which one may be `null`.
    public struct Comparison: Hashable, Sendable {
        /// The left operand.
        public let left: Operand
        /// The relation between the operands.
        public let relation: Relation
        /// The right operand.
        public let right: Operand

        /// Creates a comparison without a check. Only for callers that keep the types as the parser checked them.
        package init(left: Operand, relation: Relation, right: Operand) {
            self.left = left
            self.relation = relation
            self.right = right
        }
    }

    /// A test whether a value equals one of a list's values. These are all of the value's type or `null`, and none of
    /// them depends on the item.
    public struct Membership: Hashable, Sendable {
        /// The value to find.
        public let value: Operand
        /// The values of the list.
        public let list: [Operand]

        /// Creates a membership test without a check. Only for callers that keep the types as the parser checked them.
        package init(value: Operand, list: [Operand]) {
            self.value = value
            self.list = list
        }
    }

    /// The position at which one text must occur in another.
    public enum TextPlace: String, Sendable, CaseIterable {
        case start = "startsWith"
        case end = "endsWith"
        case anywhere = "contains"
    }

    /// A test whether a text contains another at a position.
    public struct TextTest: Hashable, Sendable {
        /// The text to search in.
        public let text: Operand
        /// The position.
        public let place: TextPlace
        /// The text to search for.
        public let part: Operand

        /// Creates a text test without a check. Only for callers that keep the types as the parser checked them.
        package init(text: Operand, place: TextPlace, part: Operand) {
            self.text = text
            self.place = place
            self.part = part
        }
    }
}
