package import Connection
public import Logging
public import Model

/// What a host needs to know beside the config.
public struct HostOptions: Sendable {
    public var clock: HostClock
    public var logger: Logger
    /// The file that every call into every plugin is written to; nil: none.
    public var trace: String?
    /// The folder of the plugins that come with the host.
    public var builtInPlugins: String
    /// The command that opens a library in a child process and describes it; the library's path is appended.
    public var probe: [String]
    /// The name of the person whose commands the process carries out. It may block.
    public var person: @Sendable () -> String
    /// Makes the way to an account's server.
    package var connect: @Sendable (Bookmark, Credentials, Limits, HostClock, Logger) -> Connection = {
        Connection(bookmark: $0, credentials: $1, limits: $2, clock: $3, logger: $4)
    }

    public init(
        clock: HostClock = .system, logger: Logger, trace: String? = nil, builtInPlugins: String, probe: [String],
        person: @escaping @Sendable () -> String = LoginName.current
    ) {
        self.clock = clock
        self.logger = logger
        self.trace = trace
        self.builtInPlugins = builtInPlugins
        self.probe = probe
        self.person = person
    }
}
