/// The policies and claims at a time, as conditions on an item's row. They answer what conditions ask of
/// `availableOffline` and `claimed`.
public struct ConditionFacts: Sendable {
    /// Whether any policy keeps the item here.
    fileprivate let pinned: Condition
    /// Whether a policy for the item itself keeps it here.
    fileprivate let direct: Condition
    /// Whether a valid claim is on the item.
    fileprivate let claimed: Condition

    /// Prepares policies and claims.
    /// - Parameters:
    ///   - policies: The policies of the kind `availableOffline`, with their parsed conditions.
    ///   - claims: The claims, valid or not.
    ///   - world: The state by which claims are valid. Its time is that for which `now` in a condition stands.
    public init(policies: [(policy: ItemPolicy, condition: Condition)], claims: [Claim], world: ClaimWorld) {
        var targets: [Condition] = []
        var own: [Condition] = []
        for (policy, condition) in policies {
            if let path = policy.path {
                let isThere = Condition.property(.path, equals: path.text)
                targets.append(isThere)
                // The usual condition holds at its own path. A list of equalities is looked up, however long it is.
                own.append(condition == .at(orBelow: path) ? isThere : .allOf([isThere, condition]))
            }
            if let localID = policy.localID {
                let isItem = Condition.property(.localID, equals: localID.text)
                targets.append(isItem)
                own.append(.allOf([isItem, condition]))
            }
        }
        pinned = .anyOf(policies.map(\.condition))
        // The targets come first, so that the other items need no more than two look-ups.
        direct = .allOf([.anyOf(targets), .anyOf(own)])
        claimed = .anyOf(
            claims.compactMap { claim in
                let isItem = Condition.property(.localID, equals: claim.item.text)
                return switch claim.validity.standing(in: world) {
                case .always: isItem
                case .over: nil
                case .now, .notNow: .allOf([isItem, claim.validity.condition(in: world)])
                }
            })
    }
}

extension ClaimValidity {
    /// The condition that the claim is valid, which may turn with time.
    fileprivate func condition(in world: ClaimWorld) -> Condition {
        switch self {
        case .explicit: .constant(true)
        case .until(let time): .comparison(.init(left: .now, relation: .less, right: .time(time)))
        case .process(let process): .constant(world.isAlive(process))
        // A group without members is never valid.
        case .all(let members):
            members.isEmpty ? .constant(false) : .allOf(members.map { $0.condition(in: world) })
        case .any(let members): .anyOf(members.map { $0.condition(in: world) })
        case .not(let other): .not(other.condition(in: world))
        }
    }
}

extension Condition {
    /// Returns the condition with each term about a decided property resolved.
    func resolved(by facts: ConditionFacts) -> Condition {
        switch self {
        case .any(let terms): .any(terms.map { $0.resolved(by: facts) })
        case .all(let terms): .all(terms.map { $0.resolved(by: facts) })
        case .not(let term): .not(term.resolved(by: facts))
        case .constant, .activity, .resolved: self
        case .property, .comparison, .membership, .text:
            // Their types differ, so that no term names both.
            if names(.claimed) {
                .resolved(
                    self,
                    as: answer(
                        .claimed, [(.boolean(true), facts.claimed), (.boolean(false), .not(facts.claimed))]))
            } else if names(.availableOffline) {
                .resolved(
                    self,
                    as: answer(
                        .availableOffline,
                        AvailableOfflineLevel.allCases.map { (.text(Text($0.rawValue)), facts.holds($0)) }))
            } else {
                self
            }
        }
    }

    /// Returns the condition that a term comes to: for each value of a property that it has the value, and that the
    /// term holds with it.
    private func answer(_ property: Property, _ values: [(value: Operand, holds: Condition)]) -> Condition {
        var terms: [Condition] = []
        var certain = 0
        for (value, holds) in values {
            switch replacing(property, with: value) {
            case .constant(true):
                certain += 1
                terms.append(holds)
            case .constant(false): break
            case let rest: terms.append(.allOf([holds, rest]))
            }
        }
        return certain == values.count ? .constant(true) : .anyOf(terms)
    }

    /// Returns the term with a value in the place of a property; a constant if the term then depends on no item.
    private func replacing(_ property: Property, with value: Operand) -> Condition {
        func replaced(_ operand: Operand) -> Operand { operand == .property(property) ? value : operand }
        let (term, operands): (Condition, [Operand])
        switch self {
        case .property: return .constant(value == .boolean(true))
        case .comparison(let terms):
            let (left, right) = (replaced(terms.left), replaced(terms.right))
            (term, operands) = (
                .comparison(.init(left: left, relation: terms.relation, right: right)), [left, right]
            )
        case .membership(let terms):
            let value = replaced(terms.value)
            (term, operands) = (.membership(.init(value: value, list: terms.list)), [value])
        case .text(let test):
            let (text, part) = (replaced(test.text), replaced(test.part))
            (term, operands) = (.text(.init(text: text, place: test.place, part: part)), [text, part])
        case .constant, .activity, .resolved, .any, .all, .not: return self
        }
        // Texts and truths do not depend on the time.
        let isFixed = !operands.contains(where: \.dependsOnItem)
        return isFixed ? .constant(term.matches(nil, now: Timestamp(nanoseconds: 0))) : term
    }
}

extension ConditionFacts {
    fileprivate func holds(_ level: AvailableOfflineLevel) -> Condition {
        switch level {
        case .none: .not(pinned)
        case .direct: direct
        case .indirect: .allOf([pinned, .not(direct)])
        }
    }
}
