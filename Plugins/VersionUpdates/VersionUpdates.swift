public import LarderSDK

/// Handles copies of which the server has a newer version and which no policy keeps here. It updates a copy that
/// somebody reads, removes a copy that nobody needs, and leaves a copy alone that somebody wants to change.
struct VersionUpdates: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.version-updates", name: "Version updates", version: "0.1.0", vendor: "Larder",
        summary: "Removes outdated local copies, or updates them while somebody reads them", required: [.actions])
    static let kind = "versionUpdates"
    static let fields: ItemFields = [.localID, .remoteVersion, .availableOffline, .claims]

    private let actions: Host.Actions

    init(host: Host) throws(PluginError) { actions = try host.require(host.actions, .actions) }

    var triggers: TriggerSet { [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges] }

    /// Outdated copies. The plugins available offline and rules update their own copies.
    var matchCondition: String? {
        let isOutdated: Condition =
            .remoteVersion == .newer && .cloudStatus == .localCopy && .type == .file && !.removed
            && .downloadTrigger != "availableOffline" && .downloadTrigger != "org.larder.rules"
        return isOutdated.text
    }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID else { throw PluginError(.failed, "the item has no id") }
        guard Self.reasonToLeave(item) == nil else { return }
        if item.claims?.contains(.read) == true {
            try actions.update(localID)
        } else {
            try actions.removeLocalCopy(localID, ifUnused: true)
        }
    }

    func explanation(of item: Item) -> String? { item.remoteVersion == .newer ? Self.reasonToLeave(item) : nil }

    /// Returns why an outdated copy is left alone. Nil: it is not.
    private static func reasonToLeave(_ item: Item) -> String? {
        // The policy's plugin adopts and updates the copy, which is never missing.
        if let coverage = item.availableOffline, coverage != Coverage.none {
            return "a policy keeps it here, whose plugin brings it up to date"
        }
        let claims = item.claims ?? []
        return claims.isDisjoint(with: [.write, .delete])
            ? nil : "it is claimed for writing or deleting, and stays as it is until the claim ends"
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(VersionUpdates.self, to: module)
}
