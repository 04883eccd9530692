/// The plugins that come with the host. They get nothing that a third-party plugin does not get. The host knows only
/// their names, so that it can report a missing one, and whether they are enabled unless the config says otherwise.
public enum FirstParty {
    /// A plugin that comes with the host.
    public struct Plugin: Sendable {
        /// The name in the config: `available-offline`.
        public let name: String
        /// Whether the plugin is enabled if the config does not say.
        public var isEnabled = true

        /// The plugin's id.
        public var id: PluginID { PluginID(shortOrFull: name) }

        /// The file name of the plugin's library: `libAvailableOffline.so`.
        public var library: String { "lib\(FirstParty.pascal(name)).so" }
    }

    /// All plugins, in the order in which the original runs their processors (P9). The rules come before the processors
    /// that remove copies, so that these see which copies rules keep.
    public static let plugins = [
        Plugin(name: "available-offline"),
        Plugin(name: "rules", isEnabled: false),
        Plugin(name: "download-expiration"),
        Plugin(name: "vacuum"),
        Plugin(name: "version-updates"),
        Plugin(name: "core-loop"),
        Plugin(name: "calendar-loop"),
        Plugin(name: "share-loop"),
    ]

    /// Returns the plugin with an id, or nil if it does not come with the host.
    public static func plugin(_ id: PluginID) -> Plugin? { plugins.first { $0.id == id } }

    /// Returns the settings of a plugin that the config does not name.
    public static func settings(of id: PluginID, json: String = "{}") -> PluginSettings {
        PluginSettings(id: id, isEnabled: plugin(id)?.isEnabled ?? true, json: json)
    }

    /// Converts a name to Pascal case: `available-offline` → `AvailableOffline`.
    public static func pascal(_ name: String) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Tells whether the processors of `a` are called before those of `b`. The plugins that `plugins.order` names come
    /// first. The host's own plugins follow, and then all others in the order of their ids.
    public static func precedes(_ a: PluginSettings, _ b: PluginSettings) -> Bool {
        switch (a.rank, b.rank) {
        case (let a?, let b?): a < b
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): precedes(a.id, b.id)
        }
    }

    private static func precedes(_ a: PluginID, _ b: PluginID) -> Bool {
        switch (plugins.firstIndex { $0.id == a }, plugins.firstIndex { $0.id == b }) {
        case (let a?, let b?): a < b
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): a < b
        }
    }
}
