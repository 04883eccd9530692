/// A piece of a condition's SQL, with what SQLite's limits make worth knowing of it.
///
/// An expression in SQLite is at most 1,000 operators high, and SQLite before 3.46 reads with a stack of 100 symbols, which
/// 35 parentheses within each other may use up. Groups are therefore rendered as balanced trees, and what is too deep for
/// the stack is cut off and named as a step of a `WITH`.
struct ConditionFragment {
    /// A part that was cut off.
    struct Step {
        var name: String
        var sql: String
        var arguments: [String]
    }

    var sql: String
    var arguments: [String] = []
    /// What `sql` refers to, in the order in which it must be defined.
    var steps: [Step] = []
    /// Whether it needs parentheses as a part of something.
    var isGroup = false
    /// How many operators are above each other.
    var height = 1
    /// How many symbols SQLite's parser holds at once to read it, at most.
    var stack = 12

    static let `true` = ConditionFragment(sql: "1")
    static let `false` = ConditionFragment(sql: "0")

    var asPart: String { isGroup ? "(\(sql))" : sql }

    /// True where the fragment is false or null, and false where it is true.
    var negated: ConditionFragment {
        var result = self
        result.sql = "(\(sql)) IS NOT TRUE"
        result.isGroup = false
        result.height += 1
        result.stack += 1
        return result
    }

    enum Operator: String {
        case and = "AND"
        case or = "OR"
    }

    /// Both, joined. What needs more stack comes first, since there it needs least, if that matters.
    static func join(_ a: ConditionFragment, _ operation: Operator, _ b: ConditionFragment) -> ConditionFragment {
        let (left, right) = b.stack > max(a.stack, 24) ? (b, a) : (a, b)
        return ConditionFragment(
            sql: "\(left.asPart) \(operation.rawValue) \(right.asPart)", arguments: left.arguments + right.arguments,
            steps: left.steps + right.steps, isGroup: true, height: max(left.height, right.height) + 1,
            stack: max(left.stack, right.stack + 2) + 1)
    }

    /// All, joined to the lowest tree: always the two lowest first.
    /// - Parameter onJoin: has the result of each join and may change it.
    static func join(
        _ fragments: [ConditionFragment], _ operation: Operator, onJoin: (inout ConditionFragment) -> Void
    ) -> ConditionFragment? {
        // Joined ones come out in the order of their heights, so that two queues do for a heap.
        let single = fragments.sorted { $0.height < $1.height }
        var joined: [ConditionFragment] = []
        var (nextSingle, nextJoined) = (0, 0)
        func lowest() -> ConditionFragment? {
            if nextSingle < single.count,
                nextJoined == joined.count || single[nextSingle].height <= joined[nextJoined].height
            {
                nextSingle += 1
                return single[nextSingle - 1]
            }
            guard nextJoined < joined.count else { return nil }
            nextJoined += 1
            return joined[nextJoined - 1]
        }
        while let first = lowest() {
            guard let second = lowest() else { return first }
            var both = join(first, operation, second)
            onJoin(&both)
            joined.append(both)
        }
        return nil
    }

    /// The fragment with all of its steps before it, so that it stands alone.
    var complete: ConditionFragment {
        guard !steps.isEmpty else { return self }
        let definitions = steps.map { "\($0.name)(holds) AS (SELECT \($0.sql))" }.joined(separator: ", ")
        return ConditionFragment(
            sql: "(WITH \(definitions) SELECT \(sql))", arguments: steps.flatMap(\.arguments) + arguments,
            height: height + 1, stack: stack + 12)
    }
}
