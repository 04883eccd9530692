// The parser's checks beyond the grammar: types, and texts that a property can have.

extension ConditionParser.Part {
    func asCondition() throws(ConditionFault) -> Condition {
        switch meaning {
        case .condition(let condition): return condition
        case .operand(.boolean(let value)): return .constant(value)
        case .operand(.property(let property)) where property.valueType == .boolean: return .property(property)
        case .operand(.property(let property)) where property.valueType == .list: throw property.isList(at: offset)
        case .operand(let operand):
            throw ConditionFault(
                .unlikeTypes, at: offset, "\(operand.shownType) stands where a condition is needed",
                hint: "compare it with a value")
        }
    }

    func asOperand() throws(ConditionFault) -> Condition.Operand {
        switch meaning {
        case .operand(.property(let property)) where property.valueType == .list: throw property.isList(at: offset)
        case .operand(let operand): return operand
        case .condition:
            throw ConditionFault(
                .unlikeTypes, at: offset, "a condition stands where a value is needed",
                hint: "negate a comparison as !(…), join conditions with && and ||")
        }
    }
}

extension Condition.Comparison {
    static func checked(
        _ left: Condition.Operand, _ relation: Condition.Relation, _ right: Condition.Operand, at place: Int,
        leftAt: Int, rightAt: Int
    ) throws(ConditionFault) -> Self {
        try left.checkLike(right, at: place)
        if relation.isOrdering, let operand = [left, right].first(where: { !$0.hasOrder }) {
            throw ConditionFault(
                .unlikeTypes, at: place, "\(operand.shown) has no order", hint: "compare it with == or !=")
        }
        try left.checkKnown(right, at: rightAt)
        try right.checkKnown(left, at: leftAt)
        return Self(left: left, relation: relation, right: right)
    }
}

extension Condition.Membership {
    static func checked(
        _ value: Condition.Operand, in list: [(Condition.Operand, Int)], at place: Int, valueAt: Int
    ) throws(ConditionFault) -> Self {
        for (element, offset) in list {
            try value.checkLike(element, at: offset)
            try value.checkKnown(element, at: offset)
            if element.dependsOnItem {
                throw ConditionFault(
                    .syntax, at: offset, "\(element.shown) is in a list of fixed values",
                    hint: "compare with == and join with ||")
            }
        }
        return Self(value: value, list: list.map(\.0))
    }
}

extension Condition.Property {
    /// Returns the error of a list that stands where a single value or a condition is needed.
    fileprivate func isList(at offset: Int) -> ConditionFault {
        ConditionFault(
            .unlikeTypes, at: offset, "\(rawValue) is a list",
            hint: "ask whether a name is in it, as 'uploading' in \(rawValue)")
    }
}

extension SyncActivity {
    /// Returns the activity that a text in quotes names.
    static func checked(_ name: Condition.Operand, at offset: Int) throws(ConditionFault) -> Self {
        let list = Condition.Property.syncActivity.rawValue
        guard case .text(let text) = name else {
            throw ConditionFault(
                .unlikeTypes, at: offset, "\(name.shown) is no name of \(list)",
                hint: "write the name in quotes, as 'uploading' in \(list)")
        }
        guard let activity = Self(name: text.text) else {
            throw ConditionFault.unknown(.unknownValue, "value of \(list)", text.text, among: allNames, at: offset)
        }
        return activity
    }
}

extension Condition.TextTest {
    func check(textAt: Int, partAt: Int) throws(ConditionFault) {
        for (operand, offset) in [(text, textAt), (part, partAt)] where operand.valueType != .text && operand != .null {
            throw ConditionFault(
                .unlikeTypes, at: offset,
                "\(place.rawValue) works between texts, and \(operand.shown) is \(operand.shownType)")
        }
    }
}

extension Condition.Operand {
    fileprivate func checkLike(_ other: Self, at place: Int) throws(ConditionFault) {
        guard let type = valueType, let otherType = other.valueType, type != otherType else { return }
        throw ConditionFault(.unlikeTypes, at: place, "\(shownType) and \(other.shownType) cannot be compared")
    }

    /// Checks that a property with few known texts is compared only with these texts, so that a typing error is found.
    fileprivate func checkKnown(_ other: Self, at place: Int) throws(ConditionFault) {
        guard case .property(let property) = self, let known = property.knownTexts, case .text(let text) = other,
            !known.contains(text.text)
        else { return }
        throw ConditionFault.unknown(
            .unknownValue, "value of \(property.rawValue)", text.text, among: known, at: place)
    }

    fileprivate var hasOrder: Bool {
        if case .property(let property) = self, property.knownTexts != nil { return false }
        return valueType != .boolean
    }

    /// The type as error messages name it.
    var shownType: String {
        switch valueType {
        case .text: "a text"
        case .integer: "a number"
        case .boolean: "true or false"
        case .time: "a time"
        case .duration: "a duration"
        case .list: "a list"
        case nil: "null"
        }
    }

    fileprivate var shown: String { if case .property(let property) = self { property.rawValue } else { shownType } }
}

extension ConditionFault {
    static func unknown(
        _ kind: ConditionError.Kind, _ what: String, _ name: String, among known: [String], at offset: Int
    ) -> ConditionFault {
        let shown = name.unicodeScalars.count > 40 ? String(name.prefix(40)) + "…" : name
        let hint =
            if let near = nearestName(to: name, among: known, ifLikely: true) {
                "did you mean \(near)?"
            } else {
                "known are \(known.joined(separator: ", "))"
            }
        return ConditionFault(kind, at: offset, "there is no \(what) '\(shown)'", hint: hint)
    }
}
