public import Logging
public import Model

/// What a plugin's instance gets from the account that it works for.
public struct AccountEnvironment: Sendable {
    public var name: String
    public var logger: Logger
    public var clock: HostClock
    /// Nil: calls are not written down.
    public var trace: TraceWriter?

    public init(name: String, logger: Logger, clock: HostClock = .system, trace: TraceWriter? = nil) {
        self.name = name
        self.logger = logger
        self.clock = clock
        self.trace = trace
    }
}
