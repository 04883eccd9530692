public import LarderSDK

/// Keeps the items here that its policies cover: downloads and updates them, and removes its copies when no policy
/// covers them any more.
struct AvailableOffline: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.available-offline", name: "Available offline", version: "0.1.0", vendor: "Larder",
        summary: "Keeps pinned files and folders here and up to date",
        required: [.config, .items, .actions, .policies])
    static let kind = "availableOffline"
    static let fields: ItemFields = [.path, .type, .localID, .removed]
    static let settingsSchema: String? = """
        {"properties": {"keep-downloads": {"type": "boolean", "default": true, "description": \
        "whether unpinning keeps files that were here before the pin, for their former reason, instead of removing \
        them"}}}
        """

    private let actions: Host.Actions
    private let items: Host.Items
    private let policyStore: Host.Policies
    private let keepsDownloads: Bool

    private var policies = FollowingPolicies([])
    private var rules = Rules(policies: [])
    /// Whether the policies' targets may have moved unnoticed. This is so before the first check after a start or a
    /// change of policies, and before each cleanup.
    private var hasToCheck = true
    private var trigger = Trigger.itemsChanged
    /// Folders to remove after the removal of their contents was requested.
    private var unwantedFolders: [(path: String, localID: String)] = []

    init(host: Host) throws(PluginError) {
        actions = try host.require(host.actions, .actions)
        items = try host.require(host.items, .items)
        policyStore = try host.require(host.policies, .policies)
        keepsDownloads = try host.settings()["keep-downloads"]?.boolean ?? true
    }

    var triggers: TriggerSet { [.itemsChanged, .itemListUpdateCompleted, .policiesChanged, .syncCapacity] }
    var policyCondition: String? { rules.covered?.text }
    var matchCondition: String? { rules.match?.text }
    /// The copies to remove. Changed items start no cleanup: a copy that is not covered may be about to move to a
    /// covered place.
    var cleanupCondition: String? {
        cleansUp(for: trigger) ? rules.cleanup.text : nil
    }

    private func cleansUp(for trigger: Trigger) -> Bool {
        trigger == .itemListUpdateCompleted || trigger == .policiesChanged
    }

    mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError) {
        self.policies = FollowingPolicies(policies)
        rules = Rules(policies: policies)
        hasToCheck = true
    }

    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError) {
        if trigger == .itemsChanged {
            while let item = try changed.next() { policies.see(item) }
        } else if hasToCheck || cleansUp(for: trigger), let targets = policies.targets {
            // Targets may have moved since then, and the run with that news may come after this one.
            var cursor = try items.matching(targets.text, fields: Self.fields)
            while let item = try cursor.next() { policies.see(item) }
            hasToCheck = false
        }
        let changes = policies.takeChanges()
        guard !changes.isEmpty else { return }
        rules = Rules(policies: policies.all)
        for policy in changes { try policyStore.update(policy, quietly: true) }
    }

    mutating func willEnter(_ trigger: Trigger) { self.trigger = trigger }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID else { throw Self.incomplete }
        try actions.download(localID, whileCovered: true)
    }

    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID, let path = item.path else { throw Self.incomplete }
        if item.type == .folder {
            unwantedFolders.append((path.copied(), localID.copied()))
        } else {
            try remove(localID.copied())
        }
    }

    mutating func endCleanup(for trigger: Trigger) throws(PluginError) {
        // The deepest folders come first, so that each folder is empty when its turn comes.
        let folders = unwantedFolders.sorted { $1.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
        unwantedFolders = []
        for folder in folders { try remove(folder.localID) }
    }

    private func remove(_ localID: String) throws(PluginError) {
        try actions.removeLocalCopy(localID, restoringFormer: keepsDownloads)
    }

    private static let incomplete = PluginError(.failed, "the item has no id or path")
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(AvailableOffline.self, to: module)
}
