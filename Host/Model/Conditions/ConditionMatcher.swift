/// A condition prepared for the evaluation of many items. In a large group, such as that of 10,000 policies, the terms
/// that compare a text for equality or by its beginning are found by a search and not tried one after the other. The
/// meaning is that of the condition.
public struct ConditionMatcher: Sendable {
    /// The condition that was prepared.
    public let condition: Condition
    private let question: Question

    /// The number of terms from which on a group is searched. Smaller groups are tried term by term.
    private static let indexedFrom = 16

    /// Prepares a condition.
    public init(_ condition: Condition) {
        self.condition = condition
        question = Question(condition)
    }

    /// Whether the condition contains a group that is searched.
    public var isIndexed: Bool { if case .plain = question { false } else { true } }

    /// Tells whether an item meets the condition.
    /// - Parameter now: The moment that `now` stands for.
    public func matches(_ item: Item, now: Timestamp) -> Bool { question.matches(item, now: now) }

    private indirect enum Question: Sendable {
        /// A condition without a group that is searched.
        case plain(Condition)
        case all([Question])
        case any(Alternatives, [Question])
        case not(Question)

        init(_ condition: Condition) {
            switch condition {
            case .constant, .property, .comparison, .membership, .text, .activity: self = .plain(condition)
            case .resolved(_, let meaning): self = Question(meaning)
            case .not(let term):
                if case .plain = Question(term) { self = .plain(condition) } else { self = .not(Question(term)) }
            case .all(let terms):
                let parts = terms.map(Question.init)
                self = parts.allSatisfy(\.isPlain) ? .plain(condition) : .all(parts)
            case .any(let terms):
                var alternatives = Alternatives()
                let isLarge = terms.count >= ConditionMatcher.indexedFrom
                let rest = isLarge ? terms.filter { !alternatives.take($0) } : terms
                let parts = rest.map(Question.init)
                if rest.count == terms.count, parts.allSatisfy(\.isPlain) {
                    self = .plain(condition)
                } else {
                    alternatives.arrange()
                    self = .any(alternatives, parts)
                }
            }
        }

        private var isPlain: Bool { if case .plain = self { true } else { false } }

        func matches(_ item: Item, now: Timestamp) -> Bool {
            switch self {
            case .plain(let condition): condition.matches(item, now: now)
            case .all(let parts): parts.allSatisfy { $0.matches(item, now: now) }
            case .any(let alternatives, let parts):
                alternatives.holds(for: item) || parts.contains { $0.matches(item, now: now) }
            case .not(let part): !part.matches(item, now: now)
            }
        }
    }

    /// Texts that properties may be equal to or begin with.
    private struct Alternatives: Sendable {
        private var equal: [Condition.Property: Set<Condition.Text>] = [:]
        private var beginnings: [Condition.Property: [Condition.Text]] = [:]

        /// Takes a term in, if the term is an equality or a test of a beginning.
        /// - Returns: Whether the term was taken in.
        mutating func take(_ term: Condition) -> Bool {
            switch term {
            case .comparison(let comparison):
                guard comparison.relation == .equal else { return false }
                switch (comparison.left, comparison.right) {
                case (.property(let property), .text(let text)), (.text(let text), .property(let property)):
                    equal[property, default: []].insert(text)
                    return true
                default: return false
                }
            case .text(let test):
                guard test.place == .start, case .property(let property) = test.text, case .text(let part) = test.part
                else { return false }
                beginnings[property, default: []].append(part)
                return true
            default: return false
            }
        }

        /// Sorts the beginnings and drops those that begin with another. Then only the last remaining text that sorts
        /// before or equal to a given text can be the beginning of that text.
        mutating func arrange() {
            for (property, texts) in beginnings {
                var kept: [Condition.Text] = []
                for text in texts.sorted() {
                    if let last = kept.last, text.text.utf8.starts(with: last.text.utf8) { continue }
                    kept.append(text)
                }
                beginnings[property] = kept
            }
        }

        func holds(for item: Item) -> Bool {
            for (property, texts) in equal {
                if case .text(let text) = property.value(of: item), texts.contains(Condition.Text(text)) { return true }
            }
            for (property, texts) in beginnings {
                if case .text(let text) = property.value(of: item), Self.hasBeginning(text, among: texts) {
                    return true
                }
            }
            return false
        }

        private static func hasBeginning(_ text: String, among sorted: [Condition.Text]) -> Bool {
            let text = Condition.Text(text)
            var (low, high) = (0, sorted.count)
            while low < high {
                let middle = (low + high) / 2
                if text < sorted[middle] { high = middle } else { low = middle + 1 }
            }
            return low > 0 && text.text.utf8.starts(with: sorted[low - 1].text.utf8)
        }
    }
}
