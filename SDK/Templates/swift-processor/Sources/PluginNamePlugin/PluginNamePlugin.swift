import LarderSDK

struct PluginNamePlugin: ItemPolicyProcessor {
    /// The id is for good: put a domain of your own in the place of `org.example`.
    static let description = PluginDescription(
        id: "org.example.plugin-name", name: "Plugin name", version: "1.0.0", required: [.actions])
    static let kind = "plugin-name"
    static let fields: ItemFields = [.localID]

    private let actions: Host.Actions

    init(host: Host) throws(PluginError) {
        actions = try host.require(host.actions, .actions)
    }

    var triggers: TriggerSet { .all }

    /// The items that it is about: favourites that are not here, or are out of date.
    var matchCondition: String? {
        let isStale: Condition = .cloudStatus == .localCopy && .remoteVersion == .newer
        let isWanted: Condition = .favorite && !.removed && .type == .file && (.cloudStatus == .cloudOnly || isStale)
        return isWanted.text
    }

    /// For each item that meets the condition.
    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID else { return }
        try actions.download(localID)
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(PluginNamePlugin.self, to: module)
}
