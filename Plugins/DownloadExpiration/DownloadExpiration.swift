public import LarderSDK

/// Removes copies some time after their last use. Removes the least recently used copies when copies take too much
/// room.
struct DownloadExpiration: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.larder.download-expiration", name: "Download expiration", version: "0.1.0", vendor: "Larder",
        summary: "Removes downloaded copies that were not used for some time, or that take too much room",
        required: [.config, .items, .actions, .usage, .values])
    static let kind = "downloadExpiration"
    static let fields: ItemFields = [.localID, .lastUsed, .size, .claims]
    static let settingsSchema: String? = """
        {"properties": {
        "after": {"type": "string", "format": "duration", "default": "7d", \
        "description": "how long after its last use a copy is removed; 0s stands for 7d"},
        "offline": {"type": "boolean", "default": true, \
        "description": "whether copies also expire while the server cannot be reached"},
        "keep-below": {"type": "string", "format": "size", \
        "description": "how much room copies may take; above it, the least recently used copies are removed"},
        "keep-free": {"type": "string", "format": "size", \
        "description": "how much room stays free on the copies' file system; below it, the least recently used copies \
        are removed"},
        "ignore-readers": {"type": "array", "items": {"type": "string"}, "default": [], \
        "heeded-as": "ignored-readers", \
        "description": "names of programs whose reading does not count as use"}}}
        """

    private let actions: Host.Actions
    private let items: Host.Items
    private let usage: Host.Usage
    private let memory: Host.Values
    private let after: Int64
    private let expiresOffline: Bool
    private let room: Room
    private var asked = Asked()

    init(host: Host) throws(PluginError) {
        actions = try host.require(host.actions, .actions)
        items = try host.require(host.items, .items)
        usage = try host.require(host.usage, .usage)
        memory = try host.require(host.values, .values)
        let settings = try host.settings()
        let after = settings["after"]?.integer ?? 0
        self.after = after > 0 ? after : 7 * 86_400_000
        expiresOffline = settings["offline"]?.boolean ?? true
        room = Room(below: settings["keep-below"]?.integer, free: settings["keep-free"]?.integer)
    }

    var triggers: TriggerSet {
        expiresOffline
            ? [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges, .timer]
            : [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges]
    }

    /// The copies that may be removed at all: unmodified ones that no policy and no rule keeps here. A copy belongs to
    /// the plugins of policies and rules only as long as one keeps it.
    private static let mayGo =
        #"cloudStatus == "localCopy" && type == "file" && !removed && downloadTrigger != "availableOffline""#
        + #" && downloadTrigger != "org.larder.rules""#

    /// The expired copies. The condition has two parts, so that an index answers each. The modification time of the
    /// file stands in for an unknown time of last use.
    var cleanupCondition: String? {
        let limit = "now - duration(\"\(after)ms\")"
        return "\(Self.mayGo) && lastUsed < \(limit) "
            + "|| \(Self.mayGo) && lastUsed == null && (lastModified == null || lastModified < \(limit))"
    }

    mutating func willEnter(_ trigger: Trigger) throws(PluginError) {
        if room.isLimited { asked.beginRun(after: try memory.value(of: Asked.key)) }
    }

    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {
        // The host would skip a copy that was claimed just now, and the request would only be recorded as asked.
        guard (item.claims ?? []).isEmpty else { return }
        try remove(item)
    }

    mutating func didPass(_ trigger: Trigger) throws(PluginError) {
        guard room.isLimited else { return }
        var excess = room.excess(try usage.figures()).subtractingSaturated(asked.bytes)
        if excess > 0 {
            var oldest = try items.matching(Self.mayGo, fields: Self.fields, sortedBy: .lastUsed)
            while excess > 0, let item = try oldest.next() {
                guard (item.claims ?? []).isEmpty, let size = item.size else { continue }
                if try remove(item) { excess = excess.subtractingSaturated(max(0, size)) }
            }
        }
        if let text = asked.newText { try memory.set(Asked.key, to: text) }
    }

    /// Asks for the removal of a copy.
    /// - Returns: Whether the copy counts as removed.
    @discardableResult
    private mutating func remove(_ item: borrowing Item) throws(PluginError) -> Bool {
        guard let localID = item.localID else { throw PluginError(.failed, "the item has no id") }
        // Only a plugin with limits on room needs the note.
        let isNew =
            room.isLimited && asked.note(localID.copied(), lastUsed: item.lastUsed ?? 0, size: item.size ?? 0)
        try actions.removeLocalCopy(localID, ifUnused: true)
        return isNew
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(DownloadExpiration.self, to: module)
}
