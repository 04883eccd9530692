import LarderSDK

/// A rule of the settings: which files it is for, and where it keeps their content.
struct Rule {
    enum Keep: Equatable {
        case here
        case away
        /// Here the files of each folder that come first by a property, the greatest value first; away the others.
        case newest(Int, by: Order)
    }

    /// A property that puts the files of a folder into an order.
    enum Order: String, CaseIterable {
        case lastModified, lastUsed, name, size

        var sort: ItemSort {
            switch self {
            case .lastModified: .lastModified
            case .lastUsed: .lastUsed
            case .name: .name
            case .size: .size
            }
        }
    }

    let name: String
    let match: ConditionText
    let unless: ConditionText?
    let keep: Keep

    /// Reads a rule.
    /// - Throws: `.invalidArgument` that names the rule and what is wrong with it.
    init(_ json: JSON) throws(PluginError) {
        // The schema has made sure that all is there, and that `keep` is one of these.
        guard let name = json["name"]?.string, let match = json["match"]?.string,
            let keep = json["keep"]?.string.flatMap(Self.keep)
        else { throw PluginError(.invalidArgument, "a rule is not as the settings' schema says") }
        guard !name.isEmpty else { throw PluginError(.invalidArgument, "a rule has an empty name") }
        self.name = name
        self.match = ConditionText(match)
        unless = json["unless"]?.string.map(ConditionText.init)
        self.keep = keep
    }

    private static func keep(_ text: String) -> Keep? {
        let words = text.split(separator: " ")
        return switch words.first {
        case "here": .here
        case "away": .away
        default:
            if words.count == 4, let count = Int(words[1]), let order = Order(rawValue: String(words[3])) {
                .newest(count, by: order)
            } else {
                nil
            }
        }
    }

    /// The condition that the rule is for an item, whatever the rules before it say.
    func applies(when supposed: Supposed) -> Condition {
        let match = Condition(text: match.text(when: supposed))
        guard let unless else { return match }
        return match && !Condition(text: unless.text(when: supposed))
    }

    fileprivate var conditions: [ConditionText] { [match] + (unless.map { [$0] } ?? []) }
}

/// The rules in their order. The first that is for an item decides about it.
struct RuleList {
    let rules: [Rule]
    /// Whether a decision may change when a copy comes or goes.
    let dependOnCopies: Bool
    /// Whether a decision may change as time passes.
    let dependOnTime: Bool
    /// The greatest number of rules: the conditions that follow from them are nested, and the host's limit is 200 levels.
    private static let most = 50

    /// Reads the rules.
    /// - Throws: `.invalidArgument` that names the rule and what is wrong with it.
    init(_ list: [JSON]) throws(PluginError) {
        guard list.count <= Self.most else {
            throw PluginError(.invalidArgument, "there are \(list.count) rules, and \(Self.most) are the most")
        }
        var rules: [Rule] = []
        for one in list {
            let rule = try Rule(one)
            guard !rules.contains(where: { $0.name.utf8.elementsEqual(rule.name.utf8) }) else {
                throw PluginError(.invalidArgument, "two rules have the name \(rule.name.literal)")
            }
            rules.append(rule)
        }
        self.rules = rules
        let conditions = rules.flatMap(\.conditions)
        dependOnCopies = conditions.contains(where: \.dependsOnCopy)
        dependOnTime = conditions.contains { $0.names("now") }
    }

    /// The indexes of the rules that keep the newest files, with their number and order.
    var newest: [(index: Int, count: Int, order: Rule.Order)] {
        rules.enumerated().compactMap { index, rule in
            if case .newest(let count, let order) = rule.keep { (index, count, order) } else { nil }
        }
    }

    /// Returns the condition that one of these rules decides about an item; nil if none of them ever does.
    func decide(when supposed: Supposed = .asItIs, _ isWanted: (Rule.Keep) -> Bool) -> Condition? {
        var condition: Condition?
        for rule in rules.reversed() {
            if isWanted(rule.keep) {
                condition = .any(of: [rule.applies(when: supposed)] + (condition.map { [$0] } ?? []))
            } else if let later = condition {
                condition = !rule.applies(when: supposed) && later
            }
        }
        return condition
    }

    /// Returns the condition that this very rule decides about an item.
    func decides(_ index: Int, when supposed: Supposed = .asItIs) -> Condition {
        .all(of: [rules[index].applies(when: supposed)] + rules[..<index].map { !$0.applies(when: supposed) })
    }
}
