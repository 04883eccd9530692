public import Logging
public import Model

/// What a plugin's instance gets from the account that it works for.
public struct AccountEnvironment: Sendable {
    public var name: String
    public var logger: Logger
    public var clock: HostClock
    /// Nil: calls are not written down.
    public var trace: TraceWriter?
    /// What stands behind `larder.projects/1`; nil: nothing, and each of its functions says so.
    public var projects: (any PluginProjects)?

    public init(
        name: String, logger: Logger, clock: HostClock = .system, trace: TraceWriter? = nil,
        projects: (any PluginProjects)? = nil
    ) {
        self.name = name
        self.logger = logger
        self.clock = clock
        self.trace = trace
        self.projects = projects
    }
}
