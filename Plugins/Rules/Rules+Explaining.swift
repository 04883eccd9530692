import LarderSDK

/// What the rules say of a file, for a person.
extension Rules {
    func explanation(of item: Item) throws(PluginError) -> String? {
        guard item.type == .file, item.isRemoved != true, let id = item.localID?.copied() else { return nil }
        let index = try deciding(id)
        let text: String
        if let index { text = try decision(of: index, id, in: item) } else { text = try exception(of: id) }
        if try holds(.availableOffline != Coverage.none, id) {
            return text + "; a pin comes before the rules"
        }
        if let why = try undoing(id) { return "\(text); nothing is done, because \(why)" }
        guard let index, try keepsAway(index, id) else { return text }
        switch item.cloudStatus {
        case .locallyModified, .localOnly: return text + "; it stays, since only this machine has it as it is"
        case .localCopy where !(item.claims ?? []).isEmpty: return text + "; it stays until the claim on it ends"
        default: return text
        }
    }

    /// Returns what a rule makes of a file, and why.
    private func decision(of index: Int, _ id: String, in item: borrowing Item) throws(PluginError) -> String {
        let rule = rules.rules[index]
        let because = "because \(try term(of: rule.match, for: id))"
        switch rule.keep {
        case .here: return "the rule \(rule.name.literal) keeps it here, \(because)"
        case .away: return "the rule \(rule.name.literal) keeps it away, \(because)"
        case .newest(let count, let order):
            let place = try place(of: id, index, order) ?? 0
            let folder = item.parentPath?.copied() ?? "/"
            let side = place <= count ? "here" : "away"
            return "the rule \(rule.name.literal) keeps it \(side), as number \(place) by \(order) in \(folder), "
                + "where it keeps \(count) here, \(because)"
        }
    }

    /// Says that no rule is for a file, and which one would be but for its exception.
    private func exception(of id: String) throws(PluginError) -> String {
        for rule in rules.rules {
            guard let unless = rule.unless, try holds(Condition(text: rule.match.text), id) else { continue }
            let because = "because \(try term(of: unless, for: id))"
            return "no rule is for it: the rule \(rule.name.literal) leaves it out, \(because)"
        }
        return "no rule is for it"
    }

    /// Returns why nothing is done about a file: what the rules say once it is here, or away. Nil: they do not undo each
    /// other.
    func undoing(_ id: String) throws(PluginError) -> String? {
        if let returning = conditions.returning, try holds(returning, id),
            let back = try deciding(id, when: .away)
        {
            return "once it is away, the rule \(rules.rules[back].name.literal) brings it back"
        }
        guard let notStaying = conditions.notStaying, try holds(notStaying, id), let index = try deciding(id) else {
            return nil
        }
        let name = rules.rules[index].name.literal
        guard let then = try deciding(id, when: .here) else { return "once it is here, the rule \(name) is not for it" }
        return "once it is here, the rule \(rules.rules[then].name.literal) decides, and not \(name)"
    }

    /// Returns the term of a condition that holds for a file.
    private func term(of condition: ConditionText, for id: String) throws(PluginError) -> String {
        for term in condition.alternatives where try holds(Condition(text: term), id) { return term }
        return condition.text
    }

    private func keepsAway(_ index: Int, _ id: String) throws(PluginError) -> Bool {
        switch rules.rules[index].keep {
        case .here: return false
        case .away: return true
        case .newest(let count, let order): return try place(of: id, index, order) ?? 0 > count
        }
    }

    /// Returns the index of the rule that decides about a file; nil if none does.
    private func deciding(_ id: String, when supposed: Supposed = .asItIs) throws(PluginError) -> Int? {
        for (index, rule) in rules.rules.enumerated() where try holds(rule.applies(when: supposed), id) { return index }
        return nil
    }

    private func holds(_ condition: Condition, _ id: String) throws(PluginError) -> Bool {
        var cursor = try items.matching((.localID == id && condition).text, fields: [], limit: 1)
        return try cursor.next() != nil
    }

    /// Returns the place of a file in its folder by a rule's order, from 1.
    private func place(of id: String, _ index: Int, _ order: Rule.Order) throws(PluginError) -> Int? {
        var folder: String?
        var found = try items.matching((.localID == id).text, fields: [.parentPath], limit: 1)
        if let item = try found.next() { folder = item.parentPath?.copied() }
        guard let folder else { return nil }
        var cursor = try items.matching(
            (.parentPath == folder && conditions.members(of: index)).text, fields: [.localID], sortedBy: order.sort,
            descending: true)
        var place = 0
        while let item = try cursor.next() {
            place += 1
            if let other = item.localID, other.copied().utf8.elementsEqual(id.utf8) { return place }
        }
        return nil
    }
}
