import LarderSDK

/// Deals with copies that the server has newer and that no policy keeps here: one that somebody reads is brought up to date, one
/// that nobody needs goes, and one that somebody means to change is left alone.
struct VersionUpdates: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.version-updates", name: "Version updates", version: "0.1.0", vendor: "Larder",
        summary: "Removes outdated local copies, or updates them while somebody reads them", required: [.actions])
    static let kind = "versionUpdates"
    static let fields: ItemFields = [.localID, .etag, .availableOffline, .claims]

    private let actions: Host.Actions

    init(host: Host) throws(PluginError) { actions = try host.require(host.actions, .actions) }

    var triggers: TriggerSet { [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges] }

    /// What available offline brought is its own to bring up to date.
    var matchCondition: String? {
        let isOutdated: Condition =
            .remoteVersion == .newer && .cloudStatus == .localCopy && .type == .file && !.removed
            && .downloadTrigger != "availableOffline"
        return isOutdated.text
    }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID else { throw PluginError(.failed, "the item has no id") }
        // A copy of another's that a policy covers is adopted, and comes without a gap.
        if let coverage = item.availableOffline, coverage != Coverage.none { return }
        let claims = item.claims ?? []
        let version = item.etag?.copied() ?? ""
        if claims.isDisjoint(with: [.write, .delete]) {
            if claims.contains(.read) {
                try actions.update(localID, key: "update:\(localID.copied()):\(version)")
            } else {
                try actions.removeLocalCopy(localID, ifUnused: true, key: "outdated:\(localID.copied()):\(version)")
            }
        }
    }
}
