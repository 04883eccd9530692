import Model

// Single comparisons and tests as SQL.

extension ConditionCompiler {
    mutating func leaf(_ condition: Condition, negated: Bool) -> ConditionFragment {
        switch condition {
        case .property(let property):
            return values(of: property, where: { $0 == .boolean(true) }, negated: negated)
        case .comparison(let comparison):
            if let result = constant(
                [comparison.left, comparison.right], negated: negated,
                {
                    .comparison(.init(left: $0[0], relation: comparison.relation, right: $0[1]))
                })
            {
                return result
            }
            return self.comparison(comparison, negated: negated)
        case .membership(let membership):
            if let result = constant(
                [membership.value], negated: negated,
                {
                    .membership(.init(value: $0[0], list: membership.list))
                })
            {
                return result
            }
            let result = self.membership(membership)
            return negated ? result.negated : result
        case .text(let test):
            if let result = constant(
                [test.text, test.part], negated: negated,
                {
                    .text(.init(text: $0[0], place: test.place, part: $0[1]))
                })
            {
                return result
            }
            let result = self.test(test)
            return negated ? result.negated : result
        case .constant(let value): return value != negated ? .true : .false
        case .activity(let activity):
            return ConditionFragment(sql: "items.syncActivity & \(activity.rawValue) \(negated ? "=" : "<>") 0")
        case .any, .all, .not, .resolved: return .false
        }
    }

    // MARK: Properties with few values

    /// Evaluates a term that depends on no property, or on one property that has few values. The compiler evaluates
    /// such a term for each of the values. Returns nil for any other term.
    private func constant(
        _ operands: [Condition.Operand], negated: Bool, _ question: ([Condition.Operand]) -> Condition
    ) -> ConditionFragment? {
        let varying = operands.indices.filter { operands[$0].dependsOnItem }
        guard let place = varying.first else {
            return question(operands).isTrueForAll(now: now) != negated ? .true : .false
        }
        guard varying.count == 1, case .property(let property) = operands[place], property.values != nil else {
            return nil
        }
        return values(
            of: property,
            where: { value in
                var operands = operands
                operands[place] = value
                return question(operands).isTrueForAll(now: now)
            }, negated: negated)
    }

    /// Returns a fragment that holds where a property with few values has one of the chosen values.
    private func values(
        of property: Condition.Property, where isChosen: (Condition.Operand) -> Bool, negated: Bool
    ) -> ConditionFragment {
        guard let values = property.values else { return negated ? .true : .false }
        let chosen = values.filter { isChosen($0.operand) != negated }
        if chosen.isEmpty { return .false }
        if chosen.count == values.count { return .true }
        if property == .removed {
            return ConditionFragment(sql: "items.removedAt IS \(chosen[0].column == 1 ? "NOT " : "")NULL")
        }
        let numbers = chosen.compactMap(\.column)
        var result = ConditionFragment(sql: "items.\(property.rawValue) ")
        switch numbers.count {
        case 0: result.sql += "IS NULL"
        case 1: result.sql += "= \(numbers[0])"
        default: result.sql += "IN (\(numbers.map { String($0) }.joined(separator: ", ")))"
        }
        if numbers.count > 0, numbers.count < chosen.count {
            return .join(result, .or, ConditionFragment(sql: "items.\(property.rawValue) IS NULL"))
        }
        // The items that are here have an index of their own, which SQLite uses only if the index's condition occurs
        // literally.
        let isHere = ConditionFragment(sql: "items.\(ItemSQL.isHere)")
        switch property {
        case .cloudStatus where numbers == [1, 2, 3]: return isHere
        case .cloudStatus where !numbers.contains(0): return .join(isHere, .and, result)
        case .remoteVersion where !numbers.isEmpty: return .join(isHere, .and, result)
        default: return result
        }
    }

    // MARK: Comparisons

    private mutating func comparison(_ comparison: Condition.Comparison, negated: Bool) -> ConditionFragment {
        var (left, relation, right) = (comparison.left, comparison.relation, comparison.right)
        if !left.dependsOnItem { (left, relation, right) = (right, relation.mirrored, left) }
        let isFixed = !right.dependsOnItem
        let isAbsent = isFixed && right.value(of: nil, now: now).isAbsent
        var result = ConditionFragment(sql: "")
        append(left, to: &result)
        guard !relation.isOrdering else {
            if isAbsent { return negated ? .true : .false }
            result.sql += " \(relation.rawValue) "
            append(right, to: &result)
            if isFixed { result = served(result, left) }
            return negated ? result.negated : result
        }
        switch ((relation == .equal) != negated, isFixed && !isAbsent) {
        case (true, true): result.sql += " = "
        case (true, false): result.sql += " IS "
        case (false, _): result.sql += " IS NOT "
        }
        append(right, to: &result)
        return (relation == .equal) != negated && isFixed && !isAbsent ? served(result, left) : result
    }

    /// Returns a fragment that is not true for an absent property in a form that an index serves. Only the root has no
    /// `parentPath`, and its column is its own path.
    private func served(_ fragment: ConditionFragment, _ operand: Condition.Operand) -> ConditionFragment {
        guard operand == .property(.parentPath) else { return fragment }
        var column = fragment
        column.sql = fragment.sql.replacing(Condition.Property.parentPath.expression, with: "items.parentPath")
        return .join(column, .and, ConditionFragment(sql: "items.path <> '/'"))
    }

    mutating func membership(_ membership: Condition.Membership) -> ConditionFragment {
        let present = membership.list.filter { !$0.value(of: nil, now: now).isAbsent }
        var result = ConditionFragment(sql: "")
        append(membership.value, to: &result)
        var isNull = result
        isNull.sql += " IS NULL"
        result.sql += " IN ("
        for (position, element) in present.enumerated() {
            if position > 0 { result.sql += ", " }
            append(element, to: &result)
        }
        result.sql += ")"
        result = served(result, membership.value)
        if present.count < membership.list.count { result = .join(result, .or, isNull) }
        return result
    }

    // MARK: Tests of text

    /// Renders a test of text. Bytes are compared as they are. `LIKE` would read some characters as wildcards and fold
    /// case.
    private mutating func test(_ test: Condition.TextTest) -> ConditionFragment {
        guard test.part != .null, test.text != .null else { return .false }
        var text = ConditionFragment(sql: "")
        append(test.text, to: &text)
        if case .text(let literal) = test.part { return self.test(text, test, literal.text) }
        var part = ConditionFragment(sql: "")
        append(test.part, to: &part)
        // The part is a property, so that it has no parameters and may occur twice. A character is added before or
        // after both texts, since `substr` returns null for an empty blob.
        let sql =
            switch test.place {
            case .start:
                "CAST('x' || \(part.sql) AS BLOB)"
                    + " = substr(CAST('x' || \(text.sql) AS BLOB), 1, length(CAST('x' || \(part.sql) AS BLOB)))"
            case .end:
                "CAST(\(part.sql) || 'x' AS BLOB)"
                    + " = substr(CAST(\(text.sql) || 'x' AS BLOB), -length(CAST(\(part.sql) || 'x' AS BLOB)))"
            case .anywhere: "instr(CAST(\(text.sql) AS BLOB), CAST(\(part.sql) AS BLOB)) > 0"
            }
        return ConditionFragment(sql: sql, arguments: text.arguments, stack: 20)
    }

    private mutating func test(
        _ text: ConditionFragment, _ test: Condition.TextTest, _ part: String
    ) -> ConditionFragment {
        guard !part.isEmpty else { return ConditionFragment(sql: "\(text.sql) IS NOT NULL") }
        var result = text
        switch test.place {
        case .start: return served(beginning(text, with: part), test.text)
        case .end: result.sql = "substr(CAST(\(text.sql) AS BLOB), -\(part.utf8.count)) = \(bytes(of: part))"
        case .anywhere: result.sql = "instr(CAST(\(text.sql) AS BLOB), \(bytes(of: part))) > 0"
        }
        return result
    }

    /// Renders a test for a prefix as a range, so that an index serves it.
    private mutating func beginning(_ text: ConditionFragment, with prefix: String) -> ConditionFragment {
        var lower = ConditionFragment(sql: "\(text.sql) >= ")
        append(prefix, to: &lower)
        guard let end = textAfterAll(beginningWith: prefix) else { return lower }
        var upper = ConditionFragment(sql: "\(text.sql) < ")
        append(end, to: &upper)
        return .join(lower, .and, upper)
    }

    // MARK: Values

    private mutating func append(_ operand: Condition.Operand, to fragment: inout ConditionFragment) {
        guard operand.dependsOnItem else {
            switch operand.value(of: nil, now: now) {
            case .absent: fragment.sql += "NULL"
            case .text(let text): append(text, to: &fragment)
            case .number(let number): fragment.sql += String(number)
            case .boolean(let value): fragment.sql += value ? "1" : "0"
            }
            return
        }
        switch operand {
        case .property(let property): fragment.sql += property.expression
        case .sum(let a, let b): append(a, "+", b, to: &fragment)
        case .difference(let a, let b): append(a, "-", b, to: &fragment)
        case .null, .text, .integer, .boolean, .time, .duration, .now: break
        }
    }

    /// Appends a sum or difference. A result that overflows becomes a floating-point number in SQLite. The cast turns
    /// such a number into the end of the range of integers.
    private mutating func append(
        _ a: Condition.Operand, _ sign: String, _ b: Condition.Operand, to fragment: inout ConditionFragment
    ) {
        fragment.stack += 4
        fragment.sql += "CAST("
        append(a, to: &fragment)
        fragment.sql += " \(sign) "
        append(b, to: &fragment)
        fragment.sql += " AS INTEGER)"
    }
}

extension Condition {
    fileprivate func isTrueForAll(now: Timestamp) -> Bool { matches(nil, now: now) }
}

extension Condition.Relation {
    /// The relation with both sides exchanged.
    fileprivate var mirrored: Condition.Relation {
        switch self {
        case .equal, .unequal: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension Condition.Property {
    /// All values of a property that has few, each with the number in its column. Nil if the property has many values.
    var values: [(operand: Condition.Operand, column: Int?)]? {
        if valueType == .boolean { return [(.boolean(false), 0), (.boolean(true), 1)] }
        guard let knownTexts else { return nil }
        let texts = knownTexts.enumerated().map { (operand: Condition.Operand.text(.init($1)), column: Optional($0)) }
        return self == .remoteVersion ? texts + [(.null, nil)] : texts
    }

    /// The SQL expression for the property's value as the condition language defines it.
    fileprivate var expression: String {
        if self == .parentPath { return "nullif(items.parentPath, items.path)" }
        guard let knownTexts else { return "items.\(rawValue)" }
        let cases = knownTexts.enumerated().map { "WHEN \($0) THEN '\($1)'" }.joined(separator: " ")
        return "CASE items.\(rawValue) \(cases) END"
    }
}
