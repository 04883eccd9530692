/// The plugins that come with the host. They get nothing that a stranger's plugin does not get; the host knows only their
/// names, so that it can say when one is missing. They are enabled unless the config says otherwise.
public enum FirstParty {
    /// A plugin that comes with the host.
    public struct Plugin: Sendable {
        /// As the config names it: `available-offline`.
        public let name: String

        public var id: PluginID { PluginID(shortOrFull: name) }

        /// The file name of its library: `libAvailableOffline.so`.
        public var library: String { "lib\(FirstParty.pascal(name)).so" }
    }

    /// All, in the order in which the original runs their processors (P9).
    public static let plugins = [
        Plugin(name: "available-offline"),
        Plugin(name: "download-expiration"),
        Plugin(name: "vacuum"),
        Plugin(name: "version-updates"),
        Plugin(name: "core-loop"),
        Plugin(name: "calendar-loop"),
        Plugin(name: "share-loop"),
    ]

    /// Finds a plugin by its id; nil if it does not come with the host.
    public static func plugin(_ id: PluginID) -> Plugin? { plugins.first { $0.id == id } }

    /// `available-offline` → `AvailableOffline`.
    public static func pascal(_ name: String) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Whether `a`'s processors are called before `b`'s: the host's own first, all others by id.
    public static func precedes(_ a: PluginID, _ b: PluginID) -> Bool {
        switch (plugins.firstIndex { $0.id == a }, plugins.firstIndex { $0.id == b }) {
        case (let a?, let b?): a < b
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): a < b
        }
    }
}
