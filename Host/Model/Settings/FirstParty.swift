/// The plugins that come with the host. They get nothing that a stranger's plugin does not get; the host knows only their
/// names, so that it can say when one is missing.
public enum FirstParty {
    public struct Plugin: Sendable {
        /// As the config names it: `available-offline`.
        public let name: String
        /// Whether this build comes with it. A plugin that is built is enabled unless the config says otherwise.
        public let isBuilt: Bool

        public var id: PluginID { PluginID(shortOrFull: name) }

        /// The file name of its library: `libAvailableOffline.so`.
        public var library: String { "lib\(FirstParty.pascal(name)).so" }
    }

    /// All, in the order in which the original runs their processors (P9).
    public static let plugins = [
        Plugin(name: "available-offline", isBuilt: true),
        Plugin(name: "download-expiration", isBuilt: true),
        Plugin(name: "vacuum", isBuilt: true),
        Plugin(name: "version-updates", isBuilt: true),
        Plugin(name: "core-loop", isBuilt: true),
        Plugin(name: "calendar-loop", isBuilt: true),
        Plugin(name: "share-loop", isBuilt: true),
    ]

    /// Those that this build comes with.
    public static let built = plugins.filter(\.isBuilt)

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
