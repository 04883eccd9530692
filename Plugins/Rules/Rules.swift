public import LarderSDK

/// Keeps files here or away by the rules of the config. The first rule that is for a file decides.
///
/// What the plugin brought goes when no rule keeps it any more. A pin, a claim, and what only this machine has come
/// before `away`.
struct Rules: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.rules", name: "Rules", version: "0.1.0", vendor: "Larder",
        summary: "Keeps files here or away by the rules of the config",
        required: [.config, .items, .actions], wanted: [.log])
    static let kind = "org.larder.rules"
    static let fields: ItemFields = [.localID, .parentPath, .type, .removed, .cloudStatus, .claims]
    static let settingsSchema: String? = """
        {"properties": {"rules": {"type": "array", "default": [], \
        "description": "the rules; the first whose conditions a file meets decides about it", \
        "items": {"type": "object", "required": ["name", "match", "keep"], "properties": {\
        "name": {"type": "string", "description": "the rule's name, for people"}, \
        "match": {"type": "string", "format": "condition", "description": "the files that the rule is for"}, \
        "unless": {"type": "string", "format": "condition", "description": "the files among them that it is not for"}, \
        "keep": {"type": "string", "pattern": "^(here|away|newest [1-9][0-9]{0,8} by \
        (lastModified|lastUsed|name|size))$", "description": "here, away, or newest N by lastModified, lastUsed, name \
        or size, with N from 1 on"}}}}}}
        """

    let items: Host.Items
    private let actions: Host.Actions
    private let log: Host.Log?
    let rules: RuleList
    let conditions: RuleConditions

    /// Whether the run checks all items.
    private var isChecking = false
    /// Whether something has changed since the last run that checked all items and found nothing to do.
    private var isDue = true
    private var bringing = Chosen()
    private var leaving = Chosen()
    /// Copies that no rule is for any more.
    private var released: Set<[UInt8]> = []
    /// The last warning, which is not repeated.
    private var warning: String?

    init(host: Host) throws(PluginError) {
        items = try host.require(host.items, .items)
        actions = try host.require(host.actions, .actions)
        log = host.log
        rules = try RuleList(host.settings()["rules"]?.array ?? [])
        conditions = RuleConditions(rules)
    }

    /// Changed items only make a later run necessary: which are the newest of a folder is known when a scan has ended.
    var triggers: TriggerSet {
        [.itemsChanged, .itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges, .policiesChanged]
    }

    var policyCondition: String? { conditions.covered?.text }
    var matchCondition: String? { isChecking ? conditions.match(bringing)?.text : nil }
    var cleanupCondition: String? { isChecking ? conditions.cleanup(leaving).text : nil }

    func updatePolicies(_ policies: [ItemPolicy]) {
        guard let policy = policies.first else { return }
        log?.warning("Rules stand in the config: the policy \(policy.identifier ?? policy.id) has no effect")
    }

    mutating func willEnter(_ trigger: Trigger) throws(PluginError) {
        isChecking =
            switch trigger {
            case .itemsChanged: false
            case .itemListUpdateCompletedWithoutChanges: isDue || rules.dependOnTime
            default: true
            }
        // A run that fails leaves everything to the next one.
        if isChecking || trigger == .itemsChanged { isDue = true }
        guard isChecking else { return }
        (bringing, leaving, released) = (Chosen(), Chosen(), [])
        for rule in rules.newest { try choose(rule.index, count: rule.count, by: rule.order) }
        var cursor = try items.matching(conditions.released.text, fields: [.localID])
        while let item = try cursor.next() { if let id = item.localID { released.insert(id.bytes) } }
        try warn()
        isDue = false
    }

    /// Chooses the files of each folder that a rule keeps here, and those that go.
    private mutating func choose(_ index: Int, count: Int, by order: Rule.Order) throws(PluginError) {
        let fields: ItemFields = [.localID, .parentPath, .cloudStatus, .downloadTrigger, .remoteVersion]
        var cursor = try items.matching(
            conditions.members(of: index).text, fields: fields, sortedBy: order.sort, descending: true)
        var found: [[UInt8]: Int] = [:]
        while let item = try cursor.next() {
            guard let id = item.localID, let folder = item.parentPath?.bytes else { continue }
            let place = found[folder, default: 0]
            found[folder] = place + 1
            let isHere = item.cloudStatus == .localCopy
            var isOurs = false
            if let trigger = item.downloadTrigger { isOurs = trigger == "org.larder.rules" }
            if !isHere || !isOurs || item.remoteVersion == .newer { bringing.take(id, isChosen: place < count) }
            if isHere { leaving.take(id, isChosen: place >= count) }
        }
    }

    /// Names the first file about which nothing is done, because rules undo each other.
    private mutating func warn() throws(PluginError) {
        var text: String?
        for condition in [conditions.notStaying, conditions.returning].compactMap(\.self) where text == nil {
            var cursor = try items.matching(
                condition.text, fields: [.path, .localID], sortedBy: .path, limit: 1)
            guard let item = try cursor.next(), let path = item.path?.copied(), let id = item.localID?.copied() else {
                continue
            }
            let why = try undoing(id) ?? "they depend on whether it is here"
            text = "Rules undo each other, so nothing is done about \(path) and others like it: \(why)"
        }
        if let text, text != warning { log?.warning(text) }
        warning = text
    }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let id = item.localID else { throw Self.incomplete }
        guard !bringing.leavesOut(id) else { return }
        isDue = true
        try actions.download(id, whileCovered: true)
    }

    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let id = item.localID else { throw Self.incomplete }
        guard !leaving.leavesOut(id) else { return }
        // The next run tries a copy again that is in use or claimed.
        isDue = true
        guard (item.claims ?? []).isEmpty else { return }
        try actions.removeLocalCopy(id, restoringFormer: released.contains(id.bytes), ifUnused: true)
    }

    mutating func didPass(_ trigger: Trigger) { (bringing, leaving, released) = (Chosen(), Chosen(), []) }

    private static let incomplete = PluginError(.failed, "the item has no id")
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(Rules.self, to: module)
}
