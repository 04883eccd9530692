import Model

/// A compiler that turns a condition into SQL.
///
/// The compiler pushes `!` down to the single comparisons. The other comparisons then keep a form that an index serves,
/// and a null, for which a condition is false, does no harm.
struct ConditionCompiler {
    let now: Timestamp
    /// The number of parameters that are left. Further texts are written into the SQL, since SQLite by default allows
    /// at most 32,766 parameters.
    private var parametersLeft = 30_000
    private var stepCount = 0

    /// The number of terms up to which an any-of group is rendered term by term. In a larger group, terms of one kind
    /// become a list, since SQLite's planning time grows with the square of the number of terms.
    private static let listedFrom = 256
    /// The largest parser stack of a fragment. A fragment that needs more becomes a step.
    private static let stackLimit = 64

    init(now: Timestamp) { self.now = now }

    mutating func whole(_ condition: Condition) -> (sql: String, arguments: [String]) {
        var terms = [condition]
        if case .all(let all) = condition { terms = all }
        // Each term stands alone, so that an index can serve it, whatever the other terms need.
        let result = joined(terms.map { fragment($0, negated: false).complete }, .and).complete
        return ("(\(result.sql))", result.arguments)
    }

    private mutating func fragment(_ condition: Condition, negated: Bool) -> ConditionFragment {
        switch condition {
        case .not(let term): return fragment(term, negated: !negated)
        case .all(let terms): return joined(terms.map { fragment($0, negated: negated) }, negated ? .or : .and)
        case .any(let terms):
            var parts: [ConditionFragment] = []
            let rest = takeLists(from: terms, negated: negated, into: &parts)
            parts += rest.map { fragment($0, negated: negated) }
            var result = joined(parts, negated ? .and : .or)
            if parts.count > Self.listedFrom {
                // The group is kept together, so that SQLite does not plan a search for each term.
                result.sql = "(\(result.sql)) IS TRUE"
                result.isGroup = false
                result.height += 1
                result.stack += 1
            }
            return result
        case .resolved(_, let meaning): return fragment(meaning, negated: negated)
        case .constant, .property, .comparison, .membership, .text, .activity:
            return leaf(condition, negated: negated)
        }
    }

    private mutating func joined(
        _ fragments: [ConditionFragment], _ operation: ConditionFragment.Operator
    ) -> ConditionFragment {
        var steps = stepCount
        defer { stepCount = steps }
        let result = ConditionFragment.join(fragments, operation) { fragment in
            guard fragment.stack > Self.stackLimit else { return }
            steps += 1
            fragment = ConditionFragment(
                sql: "(SELECT holds FROM step\(steps))",
                steps: fragment.steps + [.init(name: "step\(steps)", sql: fragment.sql, arguments: fragment.arguments)],
                height: fragment.height + 2)
        }
        return result ?? (operation == .and ? .true : .false)
    }

    // MARK: Large groups

    /// Removes from a large any-of group the terms that can be rendered as a list: the values that a property may
    /// equal, and the prefixes of paths. Returns the other terms.
    private mutating func takeLists(
        from terms: [Condition], negated: Bool, into parts: inout [ConditionFragment]
    ) -> [Condition] {
        guard terms.count > Self.listedFrom else { return terms }
        var equal: [Condition.Property: [Condition.Operand]] = [:]
        var prefixes: [(lower: String, upper: String)] = []
        var rest: [Condition] = []
        for term in terms {
            switch term {
            case .comparison(let comparison):
                if case .property(let property) = comparison.left, comparison.relation == .equal,
                    property.values == nil,
                    !comparison.right.dependsOnItem, comparison.right != .null
                {
                    equal[property, default: []].append(comparison.right)
                } else {
                    rest.append(term)
                }
            case .text(let test):
                if test.text == .property(.path), test.place == .start, case .text(let part) = test.part,
                    !part.text.isEmpty, let upper = textAfterAll(beginningWith: part.text)
                {
                    prefixes.append((part.text, upper))
                } else {
                    rest.append(term)
                }
            default: rest.append(term)
            }
        }
        for property in Condition.Property.allCases {
            guard let values = equal[property] else { continue }
            let part = membership(.init(value: .property(property), list: values))
            parts.append(negated ? part.negated : part)
        }
        if !prefixes.isEmpty {
            var part = ConditionFragment(sql: "items.databaseID IN (WITH ranges(lower, upper) AS (VALUES ", stack: 24)
            for (position, range) in prefixes.enumerated() {
                part.sql += position == 0 ? "(" : ", ("
                append(range.lower, to: &part)
                part.sql += ", "
                append(range.upper, to: &part)
                part.sql += ")"
            }
            part.sql += ") SELECT below.databaseID FROM ranges CROSS JOIN items AS below"
            part.sql += " ON below.path >= ranges.lower AND below.path < ranges.upper)"
            parts.append(negated ? part.negated : part)
        }
        return rest
    }

    /// Appends a text, as a parameter while any are left.
    mutating func append(_ text: String, to fragment: inout ConditionFragment) {
        if parametersLeft > 0 {
            parametersLeft -= 1
            fragment.sql += "?"
            fragment.arguments.append(text)
        } else {
            fragment.sql += "CAST(\(bytes(of: text)) AS TEXT)"
        }
    }
}

/// Returns the text's bytes as a literal, in which no character has a special meaning.
func bytes(of text: String) -> String {
    "x'" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
}

/// Returns the smallest text that sorts after every text with this prefix, or nil if there is none.
///
/// Text in UTF-8 sorts by its code points. The function therefore replaces the last code point that has a successor.
func textAfterAll(beginningWith prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
        let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
        guard let successor = Unicode.Scalar(next) else { continue }
        scalars.append(successor)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
    return nil
}
