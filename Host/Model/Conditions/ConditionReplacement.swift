extension Condition {
    /// Returns the condition with another item's `localID` wherever this condition compares `localID` with the old one.
    /// - Returns: The new condition, or nil if this condition does not compare with the old `localID`.
    public func replacing(_ old: LocalID, with new: LocalID) -> Condition? {
        let replaced = replaced(.text(Text(old.text)), .text(Text(new.text)))
        return replaced == self ? nil : replaced
    }

    private func replaced(_ old: Operand, _ new: Operand) -> Condition {
        switch self {
        case .constant, .property, .text, .activity, .resolved: return self
        case .comparison(let comparison):
            let (left, right) = (comparison.left, comparison.right)
            if left == .property(.localID), right == old {
                return .comparison(Comparison(left: left, relation: comparison.relation, right: new))
            }
            if left == old, right == .property(.localID) {
                return .comparison(Comparison(left: new, relation: comparison.relation, right: right))
            }
            return self
        case .membership(let membership):
            guard membership.value == .property(.localID) else { return self }
            return .membership(
                Membership(value: membership.value, list: membership.list.map { $0 == old ? new : $0 }))
        case .any(let terms): return .any(terms.map { $0.replaced(old, new) })
        case .all(let terms): return .all(terms.map { $0.replaced(old, new) })
        case .not(let term): return .not(term.replaced(old, new))
        }
    }
}
