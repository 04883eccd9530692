/// A part of a condition's SQL, with the measures that SQLite limits.
///
/// An expression in SQLite is at most 1,000 operators high. The parser of SQLite before 3.46 has a stack of 100
/// symbols, which 35 nested parentheses may use up. The compiler therefore renders groups as balanced trees, and turns
/// a fragment that is too deep for the stack into a named step of a `WITH`.
struct ConditionFragment {
    /// A part that was cut off and named.
    struct Step {
        var name: String
        var sql: String
        var arguments: [String]
    }

    var sql: String
    var arguments: [String] = []
    /// The steps to which `sql` refers, in the order in which they must be defined.
    var steps: [Step] = []
    /// Whether the fragment needs parentheses as a part of another.
    var isGroup = false
    /// The height of the tree of operators.
    var height = 1
    /// The largest number of symbols that SQLite's parser holds at once to read the fragment.
    var stack = 12

    static let `true` = ConditionFragment(sql: "1")
    static let `false` = ConditionFragment(sql: "0")

    var asPart: String { isGroup ? "(\(sql))" : sql }

    /// A fragment that is true where this fragment is false or null, and false where it is true.
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

    /// Joins two fragments. If the stack matters, the fragment that needs more of it comes first, where it needs least.
    static func join(_ a: ConditionFragment, _ operation: Operator, _ b: ConditionFragment) -> ConditionFragment {
        let (left, right) = b.stack > max(a.stack, 24) ? (b, a) : (a, b)
        return ConditionFragment(
            sql: "\(left.asPart) \(operation.rawValue) \(right.asPart)", arguments: left.arguments + right.arguments,
            steps: left.steps + right.steps, isGroup: true, height: max(left.height, right.height) + 1,
            stack: max(left.stack, right.stack + 2) + 1)
    }

    /// Joins all fragments to the tree of least height, always the two lowest first.
    /// - Parameter onJoin: A function that receives the result of each join and may change it.
    static func join(
        _ fragments: [ConditionFragment], _ operation: Operator, onJoin: (inout ConditionFragment) -> Void
    ) -> ConditionFragment? {
        // The joins are produced in the order of their heights, so that two queues suffice instead of a heap.
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

    /// The fragment together with the definitions of its steps, so that it stands alone.
    var complete: ConditionFragment {
        guard !steps.isEmpty else { return self }
        let definitions = steps.map { "\($0.name)(holds) AS (SELECT \($0.sql))" }.joined(separator: ", ")
        return ConditionFragment(
            sql: "(WITH \(definitions) SELECT \(sql))", arguments: steps.flatMap(\.arguments) + arguments,
            height: height + 1, stack: stack + 12)
    }
}
