/// The settings in the config, apart from the accounts.
public struct Settings: Hashable, Sendable {
    /// The interval between two polls of the item list. Nil means: the interval that the server asks for if that is
    /// above 5 s, else 10 s.
    public var poll: Duration?
    /// The interval between two walks where ETags do not tell of changes below.
    public var walk: Duration
    /// The limits for removals by a scan. Nil means: a scan may remove any number of items.
    public var removalGuard: RemovalGuard?
    /// The limits for requests and transfers.
    public var limits: Limits
    /// The bytes that downloads leave free on the file system of the copies. Nil means: 500 MB or 5 % of the file
    /// system, whichever is less.
    public var keepFree: Int64?
    /// The longest time that a running host takes to stop.
    public var shutdownTimeout: Duration
    /// The absolute paths of folders with plugin libraries, besides the built-in ones.
    public var pluginPaths: [String]
    /// The settings of plugins.
    public var plugins: [PluginSettings]

    /// Creates settings, by default those of an empty config.
    public init(
        poll: Duration? = nil, walk: Duration = .seconds(300), removalGuard: RemovalGuard? = RemovalGuard(),
        limits: Limits = Limits(), keepFree: Int64? = nil, shutdownTimeout: Duration = .seconds(30),
        pluginPaths: [String] = [], plugins: [PluginSettings] = []
    ) {
        self.poll = poll
        self.walk = walk
        self.removalGuard = removalGuard
        self.limits = limits
        self.keepFree = keepFree
        self.shutdownTimeout = shutdownTimeout
        self.pluginPaths = pluginPaths
        self.plugins = plugins
    }
}

/// The limits for requests and transfers.
public struct Limits: Hashable, Sendable {
    /// The largest number of requests at a time, for listings and downloads together, and for uploads. Nil means: as many
    /// as help.
    public var connections: Int?
    /// The largest number of downloads at a time. Nil means: as many as help.
    public var downloads: Int?
    /// The largest number of uploads at a time. Nil means: as many as help.
    public var uploads: Int?
    /// The number of other changes of the server.
    public var actions: Int
    /// The bandwidth of all file transfers of the process together.
    public var bandwidth: BandwidthLimits
    /// The bytes per second below which a transfer is given up, measured over a minute. 0 means: no transfer is too
    /// slow.
    public var slowest: Int64

    /// The number that none of them exceeds that is not set.
    public static let mostByItself = 64

    /// Creates limits.
    public init(
        connections: Int? = nil, downloads: Int? = nil, uploads: Int? = nil, actions: Int = 10,
        bandwidth: BandwidthLimits = BandwidthLimits(), slowest: Int64 = 1000
    ) {
        self.connections = connections
        self.downloads = downloads
        self.uploads = uploads
        self.actions = actions
        self.bandwidth = bandwidth
        self.slowest = slowest
    }
}

/// The limits for the contents of files on the network, in bytes per second.
public struct BandwidthLimits: Hashable, Sendable {
    /// The limit for all uploads together. Nil means: no limit.
    public var up: Int64?
    /// The limit for all downloads together. Nil means: no limit.
    public var down: Int64?

    /// Creates limits, by default none.
    public init(up: Int64? = nil, down: Int64? = nil) {
        self.up = up
        self.down = down
    }
}

/// The settings of one plugin in the config.
public struct PluginSettings: Hashable, Sendable {
    /// The place where a plugin's code runs. The raw values are those of the config.
    public enum Isolation: String, Hashable, Sendable {
        case inProcess = "in-process"
        case process
    }

    /// The plugin's id.
    public var id: PluginID
    /// Whether the plugin is enabled, for all accounts without an override that says otherwise.
    public var isEnabled: Bool
    /// The absolute path of the library. Nil means: the built-in library, or the library with this id in the plugins'
    /// folders.
    public var library: String?
    /// The isolation. Nil means: in process for the first-party plugins, in a process of its own for all others.
    public var isolation: Isolation?
    /// The plugin's own settings, a JSON object.
    public var json: String
    /// The number of bytes that the files of the plugin's projects may take, in each account.
    public var projectQuota: Int64
    /// The number of bytes that the values which the plugin stores may take, in each account.
    public var valueQuota = defaultValueQuota
    /// The number of bytes that the records which the plugin's event loops keep may take, in each account.
    public var recordQuota = defaultRecordQuota
    /// The position in `plugins.order`. Nil means: the config does not name the plugin there.
    public var rank: Int?
    /// The services that the plugin does not get, even if it requests them.
    public var withheld: Set<String>
    /// What the plugin may do beyond the services that it gets.
    public var grants: Set<Grant>
    /// What is different for accounts, by the accounts' names. What an account runs with is in its bookmark; this is for
    /// checks before any account is opened.
    public var overrides: [String: PluginOverride] = [:]

    /// Something that a plugin may only do if the config grants it. The raw values are those of the config.
    public enum Grant: String, Hashable, Sendable, CaseIterable {
        /// Changes on the server.
        case serverChanges = "server-changes"
    }

    /// The quota if the config names none, in bytes.
    public static let defaultProjectQuota: Int64 = 1_000_000_000
    /// The quota for values if the config names none, in bytes.
    public static let defaultValueQuota: Int64 = 64_000_000
    /// The quota for records if the config names none, in bytes.
    public static let defaultRecordQuota: Int64 = 1_000_000_000
    /// The number of policies of its kind that a plugin may add to, in each account.
    public static let mostPolicies = 10_000

    /// Creates settings for a plugin.
    public init(
        id: PluginID, isEnabled: Bool = true, library: String? = nil, isolation: Isolation? = nil, json: String = "{}",
        projectQuota: Int64 = defaultProjectQuota, withheld: Set<String> = [], grants: Set<Grant> = []
    ) {
        self.id = id
        self.isEnabled = isEnabled
        self.library = library
        self.isolation = isolation
        self.json = json
        self.projectQuota = projectQuota
        self.withheld = withheld
        self.grants = grants
    }
}

/// The state of a plugin, as `plugin list` shows it.
public struct PluginReport: Hashable, Sendable {
    /// The stage that the host has reached with a plugin. The raw values are those of JSON output.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case found, missing, disabled, refused, quarantined, ready, running, degraded, stopped
    }

    /// What lies where the plugin's library lay when it was opened. The raw values are those of JSON output.
    public enum OnDisk: String, Hashable, Sendable {
        /// The library itself, or it was not opened.
        case same
        /// Another file, or the library after a write.
        case other
        case missing
    }

    /// The plugin's id.
    public var id: PluginID
    /// The plugin's name.
    public var name: String
    /// The plugin's version.
    public var version: String
    /// The absolute path of the library. Empty if there is none.
    public var library: String
    /// The state.
    public var state: State
    /// The isolation.
    public var isolation: PluginSettings.Isolation
    /// The reason for the state, if there is more to say.
    public var reason: String?
    /// The advice what to do about the state, if the reason does not give it.
    public var advice: Advice?
    /// The kinds of policies that the plugin's processors process, and the kinds of its loops.
    public var kinds: [String]
    /// The version of the ABI for which the plugin was built, such as `1.0`. Nil if the plugin was not opened.
    public var abi: String?
    /// What the config grants the plugin, in the order of the names.
    public var grants: [PluginSettings.Grant] = []
    /// The problems with the plugin's own settings, if the plugin is refused because of them.
    public var settingProblems: [SettingProblem] = []
    /// Whether the plugin is refused because the host cannot determine which settings it has.
    public var isSchemaWrong = false
    /// Whether the plugin is refused because the system has too little of something, such as descriptors. That is no
    /// fault of the plugin, and may be over soon.
    public var isForLack = false
    /// The defaults of the plugin's own settings, if it was opened: an object in the shape of the settings in the
    /// config, with values as written there, such as `7d`.
    public var settingDefaults = JSONValue.object([])
    /// The schema of the plugin's own settings, a JSON object.
    public var schema = JSONValue.object([])
    /// Who made the plugin, and what it is for; empty if it does not say so.
    public var vendor = ""
    public var summary = ""
    /// The services without which the plugin does not start, and those that it uses if they are there.
    public var required: [String] = []
    public var wanted: [String] = []
    /// The mark of the library's file when it was opened. Nil if it was not opened.
    public var openedMark: String?
    /// What lies at the library's path now.
    public var onDisk = OnDisk.same
    /// What the plugin did wrong since it was started; nil if nothing is known of that.
    public var mistakes: String?
    /// The libraries beside the library that it needs. If there are any, it was opened where it lies.
    public var neighbours: [String] = []

    /// Creates a report.
    public init(
        id: PluginID, name: String, version: String = "", library: String = "", state: State,
        isolation: PluginSettings.Isolation, reason: String? = nil, advice: Advice? = nil, kinds: [String] = [],
        abi: String? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.library = library
        self.state = state
        self.isolation = isolation
        self.reason = reason
        self.advice = advice
        self.kinds = kinds
        self.abi = abi
    }
}
