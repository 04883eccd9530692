extension Condition {
    /// The part of the condition that decides what it comes to for an item: it comes to the same, and without it the whole
    /// might not.
    ///
    /// Of a group that one term decides it is the first such term's part: the first that holds of one where any suffices, the
    /// first that does not of one where all are needed. Where all terms decide together it is the parts of all.
    /// - Parameter now: the moment that `now` stands for.
    public func deciding(for item: Item, now: Timestamp) -> Condition {
        switch self {
        case .constant, .property, .comparison, .membership, .text: self
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
    /// Each once, where it stands first.
    fileprivate var distinct: [Condition] {
        var seen: Set<Condition> = []
        return filter { seen.insert($0).inserted }
    }
}
