public import LarderSDK

/// Forgets items that are no longer on the server, and removes their copies, some time after their removal was noticed.
struct Vacuum: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.vacuum", name: "Vacuum", version: "0.1.0", vendor: "Larder",
        summary: "Removes the local copies of files and folders that were deleted on the server",
        required: [.config, .actions])
    static let kind = "vacuum"
    static let fields: ItemFields = [.path, .type, .localID]
    static let settingsSchema: String? = """
        {"properties": {"after": {"type": "string", "format": "duration", "default": "60s", "description": \
        "how long an item is kept after it was found to be gone from the server"}}}
        """

    private let actions: Host.Actions
    private let after: Int64
    /// Folders to forget after the removal of their contents was requested.
    private var folders: [(path: String, localID: String)] = []

    init(host: Host) throws(PluginError) {
        actions = try host.require(host.actions, .actions)
        after = try max(0, host.settings()["after"]?.integer ?? 60_000)
    }

    /// Runs only when the list agrees with the server: an item that is being moved may be gone from one folder and not
    /// yet found in another.
    var triggers: TriggerSet { [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges] }

    var cleanupCondition: String? { "removed && removedAt < now - duration(\"\(after)ms\")" }

    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {
        guard let localID = item.localID, let path = item.path else {
            throw PluginError(.failed, "the item has no id or path")
        }
        if item.type == .folder {
            folders.append((path.copied(), localID.copied()))
        } else {
            try purge(localID.copied())
        }
    }

    mutating func endCleanup(for trigger: Trigger) throws(PluginError) {
        // The deepest folders come first, so that each folder is empty when its turn comes.
        let found = folders.sorted { $1.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
        folders = []
        for folder in found { try purge(folder.localID) }
    }

    private func purge(_ localID: String) throws(PluginError) { try actions.purge(localID) }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(Vacuum.self, to: module)
}
