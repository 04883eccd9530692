public import Logging
public import Model

/// The environment that a plugin's instance gets from the account for which it works.
public struct AccountEnvironment: Sendable {
    /// The account's name.
    public var name: String
    /// The logger for the plugin's lines, and for the host's lines about the plugin.
    public var logger: Logger
    /// The clock that the plugin sees.
    public var clock: HostClock
    /// The trace of the calls.
    public var trace: AccountTrace
    /// The board that records the calls under way; nil if no record outlives the process.
    public var calls: CallBoard?
    /// The libraries that are not opened now.
    public var held = HeldLibraries()
    /// What is different for the account in the settings of plugins.
    public var overrides: [PluginID: PluginOverride]
    /// The implementation of `larder.projects/1`; nil if there is none, and then each of its functions says so.
    public var projects: (any PluginProjects)?
    /// The files that plugins may have uploaded; nil if there are none.
    public var uploads: (any PluginUploads)?
    /// What a scripted host makes of the calls; nil for a host that does the work.
    package var script: (any CallScript)?
    /// A function that is called on the plugin's thread after the plugin failed or broke the rules. It returns at once.
    public var noted: @Sendable () -> Void
    /// A function that is called when a call into a plugin was found to hang. It returns at once.
    public var hung: @Sendable () -> Void

    /// Creates an environment.
    public init(
        name: String, logger: Logger, clock: HostClock = .system, trace: TraceWriter? = nil, feeds: TraceFeeds? = nil,
        calls: CallBoard? = nil, held: HeldLibraries = HeldLibraries(), overrides: [PluginID: PluginOverride] = [:],
        projects: (any PluginProjects)? = nil,
        uploads: (any PluginUploads)? = nil, noted: @escaping @Sendable () -> Void = {},
        hung: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.logger = logger
        self.clock = clock
        self.trace = AccountTrace(to: trace, feeds, of: name)
        self.calls = calls
        self.held = held
        self.overrides = overrides
        self.projects = projects
        self.uploads = uploads
        self.noted = noted
        self.hung = hung
    }
}
