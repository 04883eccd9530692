/// What the config says beside the accounts.
public struct Settings: Hashable, Sendable {
    /// How often the item list is polled; nil: the server's wish if above 5 s, else 10 s.
    public var poll: Duration?
    /// How often everything is walked where ETags do not tell of changes below.
    public var walk: Duration
    /// Nil: a scan may take away as much as it likes.
    public var removalGuard: RemovalGuard?
    public var limits: Limits
    /// Folders with libraries besides the built-in ones, absolute.
    public var pluginPaths: [String]
    public var plugins: [PluginSettings]

    public init(
        poll: Duration? = nil, walk: Duration = .seconds(300), removalGuard: RemovalGuard? = RemovalGuard(),
        limits: Limits = Limits(), pluginPaths: [String] = [], plugins: [PluginSettings] = []
    ) {
        self.poll = poll
        self.walk = walk
        self.removalGuard = removalGuard
        self.limits = limits
        self.pluginPaths = pluginPaths
        self.plugins = plugins
    }
}

/// How much may be under way at once.
public struct Limits: Hashable, Sendable {
    public var connections: Int
    public var downloads: Int

    public init(connections: Int = 8, downloads: Int = 6) {
        self.connections = connections
        self.downloads = downloads
    }
}

/// What the config says of one plugin.
public struct PluginSettings: Hashable, Sendable {
    /// Where a plugin's code runs. The raw values are the config's.
    public enum Isolation: String, Hashable, Sendable {
        case inProcess = "in-process"
        case process
    }

    public var id: PluginID
    public var isEnabled: Bool
    /// Absolute; nil: the built-in library, or the one with this id in the plugins' folders.
    public var library: String?
    /// Nil: in process for the first-party plugins, in a process of its own for all others.
    public var isolation: Isolation?
    /// The plugin's own settings, a JSON object.
    public var json: String
    /// How many bytes the files of its projects may take, in each account.
    public var projectQuota: Int64
    /// The services that it does not get, whatever it asks for.
    public var withheld: Set<String>

    public static let defaultProjectQuota: Int64 = 1_000_000_000

    public init(
        id: PluginID, isEnabled: Bool = true, library: String? = nil, isolation: Isolation? = nil, json: String = "{}",
        projectQuota: Int64 = defaultProjectQuota, withheld: Set<String> = []
    ) {
        self.id = id
        self.isEnabled = isEnabled
        self.library = library
        self.isolation = isolation
        self.json = json
        self.projectQuota = projectQuota
        self.withheld = withheld
    }
}

/// What is known of a plugin, as `plugin list` shows it.
public struct PluginReport: Hashable, Sendable {
    /// How far the host has come with a plugin. The raw values are those of JSON output.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case found, missing, disabled, refused, quarantined, ready, running, degraded, stopped
    }

    public var id: PluginID
    public var name: String
    public var version: String
    /// Absolute; empty if there is none.
    public var library: String
    public var state: State
    public var isolation: PluginSettings.Isolation
    /// Why it is in this state, if there is more to say.
    public var reason: String?
    /// The kinds of policies that its processors process, and of its loops.
    public var kinds: [String]
    /// The ABI that it was built for: `1.0`; nil if it was not opened.
    public var abi: String?
    /// What is wrong with the plugin's own settings, if it is refused for them.
    public var settingProblems: [SettingProblem] = []
    /// Whether it is refused since the host cannot make out which settings it has.
    public var isSchemaWrong = false
    /// What holds for the plugin's own settings that are left out, if it was opened: an object in the shape of what stands in the
    /// config, and written as there, such as `7d`.
    public var settingDefaults = JSONValue.object([])

    public init(
        id: PluginID, name: String, version: String = "", library: String = "", state: State,
        isolation: PluginSettings.Isolation, reason: String? = nil, kinds: [String] = [], abi: String? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.library = library
        self.state = state
        self.isolation = isolation
        self.reason = reason
        self.kinds = kinds
        self.abi = abi
    }
}
