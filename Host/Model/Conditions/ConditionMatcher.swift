/// A condition made ready to be asked of many items: in a large group, such as that of 10,000 policies, the terms that say what a
/// text equals or begins with are looked up and not tried one after the other. It means what the condition means.
public struct ConditionMatcher: Sendable {
    public let condition: Condition
    private let question: Question

    /// Smaller groups are tried term by term.
    private static let indexedFrom = 16

    public init(_ condition: Condition) {
        self.condition = condition
        question = Question(condition)
    }

    /// Whether there is a group that is looked up.
    public var isIndexed: Bool { if case .plain = question { false } else { true } }

    /// - Parameter now: the moment that `now` stands for.
    public func matches(_ item: Item, now: Timestamp) -> Bool { question.matches(item, now: now) }

    private indirect enum Question: Sendable {
        /// Nothing in it is looked up.
        case plain(Condition)
        case all([Question])
        case any(Alternatives, [Question])
        case not(Question)

        init(_ condition: Condition) {
            switch condition {
            case .constant, .property, .comparison, .membership, .text: self = .plain(condition)
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

    /// Texts that properties may equal or begin with.
    private struct Alternatives: Sendable {
        private var equal: [Condition.Property: Set<Condition.Text>] = [:]
        private var beginnings: [Condition.Property: [Condition.Text]] = [:]

        /// - Returns: false if the term is of another kind.
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

        /// Sorts the beginnings and leaves out those that begin with another, so that of those which are left only the last one
        /// before a text can be its beginning.
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
