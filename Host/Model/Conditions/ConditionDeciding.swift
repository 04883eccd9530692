extension Condition {
    /// Returns the part of the condition that decides the result for an item. The part has the same result, and without
    /// the part the whole condition might have another result.
    ///
    /// If one term decides a group, the result is the deciding part of the first such term: the first term that holds
    /// where any term suffices, or the first term that does not hold where all terms are needed. If all terms decide
    /// together, the result contains the deciding parts of all terms.
    /// - Parameter now: The moment that `now` stands for.
    public func deciding(for item: Item, now: Timestamp) -> Condition {
        switch self {
        case .constant, .property, .comparison, .membership, .text, .activity, .resolved: self
        case .not(let term): .not(term.deciding(for: item, now: now))
        case .any(let terms):
            if let holding = terms.first(where: { $0.matches(item, now: now) }) {
                holding.deciding(for: item, now: now)
            } else {
                .anyOf(terms.map { $0.deciding(for: item, now: now) }.distinct)
            }
        case .all(let terms):
            if let failing = terms.first(where: { !$0.matches(item, now: now) }) {
                failing.deciding(for: item, now: now)
            } else {
                .allOf(terms.map { $0.deciding(for: item, now: now) }.distinct)
            }
        }
    }
}

extension [Condition] {
    /// The elements without repetitions, in the order of their first occurrence.
    fileprivate var distinct: [Condition] {
        var seen: Set<Condition> = []
        return filter { seen.insert($0).inserted }
    }
}
