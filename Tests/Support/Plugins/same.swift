import LarderSDK

/// A small processor that same.c, same.cpp and same.rs also are: each call does the same in each language.
struct Same: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.example.same", name: "Same", version: "1.0.0",
        required: [.config, .actions, .values, .items, .policies], wanted: [.log])
    static let kind = "same"
    static let fields: ItemFields = [.localID, .path, .size]
    static let maximumRecords: Int? = 20
    static let settingsSchema: String? =
        #"{"properties": {"folder": {"type": "string", "default": "/it \"is\""}, "largest": {"type": "string", "format": "size", "default": "1kB"}}}"#

    private let host: Host
    private let actions: Host.Actions
    private let values: Host.Values
    private let items: Host.Items
    private let policies: Host.Policies
    private let folder: String
    private let largest: Int64
    private var policyCount = 0

    init(host: Host) throws(PluginError) {
        self.host = host
        actions = try host.require(host.actions, .actions)
        values = try host.require(host.values, .values)
        items = try host.require(host.items, .items)
        policies = try host.require(host.policies, .policies)
        let settings = try host.settings()
        folder = settings["folder"]?.string ?? ""
        largest = settings["largest"]?.integer ?? 0
        if largest == 0 { throw PluginError(.invalidArgument, "nothing is as small as 0 bytes") }
    }

    var triggers: TriggerSet { .all }
    var policyCondition: String? { "favorite" }
    var matchCondition: String? { "type == \"file\" && !removed && parentPath == \(folder.literal)" }
    var cleanupCondition: String? { "cloudStatus == \"localCopy\"" }

    mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError) { policyCount = policies.count }

    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError) {
        while let item = try changed.next() { host.log?.info("changed: \(item.path?.copied() ?? "")") }
    }

    mutating func willEnter(_ trigger: Trigger) throws(PluginError) {
        let runs = String(decoding: try values.value(of: "runs") ?? [], as: UTF8.self) + "|"
        try values.set("runs", to: Array(runs.utf8))
        let count = try countFolders()
        host.log?.info("trigger \(trigger.rawValue), runs \(runs), policies \(policyCount), folders \(count)")
        if policyCount == 0 { try policies.add(ItemPolicy(condition: "favorite", identifier: "same")) }
    }

    private func countFolders() throws(PluginError) -> Int {
        var folders = try items.matching("type == \"folder\"", fields: .path, sortedBy: .path)
        var count = 0
        while try folders.next() != nil { count += 1 }
        return count
    }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID, let path = item.path?.copied() else { return }
        if item.size ?? 0 > largest { throw PluginError(.limit, "\(path) is too large") }
        try actions.download(localID, whileCovered: true, key: "get:\(path)")
    }

    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID else { return }
        try actions.removeLocalCopy(localID, ifUnused: true)
    }

    mutating func endCleanup(for trigger: Trigger) throws(PluginError) { try actions.download("nobody") }

    func explanation(of item: Item) throws(PluginError) -> String? {
        item.size ?? 0 > largest ? "it is too large" : nil
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(Same.self, to: module)
}
