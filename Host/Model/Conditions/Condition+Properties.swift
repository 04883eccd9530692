extension Condition {
    /// Tells whether the condition names a property.
    public func names(_ property: Property) -> Bool {
        switch self {
        case .constant: false
        case .property(let named): named == property
        case .comparison(let terms): terms.left.names(property) || terms.right.names(property)
        case .membership(let terms): terms.value.names(property) || terms.list.contains { $0.names(property) }
        case .text(let test): test.text.names(property) || test.part.names(property)
        case .activity: property == .syncActivity
        case .resolved(let term, _): term.names(property)
        case .any(let terms), .all(let terms): terms.contains { $0.names(property) }
        case .not(let term): term.names(property)
        }
    }
}

extension Condition.Operand {
    fileprivate func names(_ property: Condition.Property) -> Bool {
        switch self {
        case .property(let named): named == property
        case .sum(let left, let right), .difference(let left, let right): left.names(property) || right.names(property)
        case .null, .text, .integer, .boolean, .time, .duration, .now: false
        }
    }
}
