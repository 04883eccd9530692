public import Logging
public import Model

/// What a plugin's instance gets from the account that it works for.
public struct AccountEnvironment: Sendable {
    public var name: String
    public var logger: Logger
    public var clock: HostClock
    /// Nil: calls are not written down.
    public var trace: TraceWriter?
    /// Where calls are written down that are under way; nil: nowhere that outlives the process.
    public var calls: CallBoard?
    /// The libraries that are not opened now.
    public var held = HeldLibraries()
    /// What stands behind `larder.projects/1`; nil: nothing, and each of its functions says so.
    public var projects: (any PluginProjects)?
    /// Called after a plugin failed or broke the rules, on its thread; it returns at once.
    public var noted: @Sendable () -> Void

    public init(
        name: String, logger: Logger, clock: HostClock = .system, trace: TraceWriter? = nil,
        calls: CallBoard? = nil, held: HeldLibraries = HeldLibraries(), projects: (any PluginProjects)? = nil,
        noted: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.logger = logger
        self.clock = clock
        self.trace = trace
        self.calls = calls
        self.held = held
        self.projects = projects
        self.noted = noted
    }
}
