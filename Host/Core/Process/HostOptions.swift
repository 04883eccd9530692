package import Connection
public import Logging
public import Model
import PluginHost

/// The facts that a host needs besides the config.
public struct HostOptions: Sendable {
    /// The system's clocks.
    public var clock: HostClock
    /// The logger for what concerns the process as a whole. The loggers of the parts are made of it.
    public var logger: Logger
    /// The file to which every call into every plugin is written; nil writes no file.
    public var trace: TraceFile?
    /// The folder of the plugins that come with the host.
    public var builtInPlugins: String
    /// The folder of plugins that are for all hosts of this machine; nil: there is none.
    public var systemPlugins: String?
    /// The command that opens a library in a child process and describes it. The library's path is appended to the
    /// command.
    public var probe: [String]
    /// Returns the name of the person whose commands the process carries out. It may block.
    public var person: @Sendable () -> String
    /// Returns the words for advice in what the host keeps for others to read: notes in the vault and in the database.
    public var words: @Sendable (Advice) -> String
    /// Returns the absolute path of the socket on which this process takes commands for an account whose vault, at the
    /// given path, has just been opened; nil if no socket could be made. A process that is no host has no function: it
    /// has a vault for a short time, and others wait for it.
    public var controlSocket: (@Sendable (String) async -> String?)?
    /// The list of the vaults that were used before: none of them is begun anew while it is away. Nil keeps no list.
    public var knownVaults: KnownVaults?
    /// Creates the connection to an account's server.
    package var connect: @Sendable (Bookmark, AccountSecret, Limits, Bandwidth, HostClock, Logger) -> Connection = {
        Connection(
            bookmark: $0, credentials: $1.credentials, proxyLogin: $1.proxyLogin, limits: $2, bandwidth: $3, clock: $4,
            logger: $5)
    }
    /// The bandwidth of all connections. Copies of the options share it, and so do the accounts of all generations.
    package let bandwidth = Bandwidth()
    /// The calls into plugins, for those who listen. Copies of the options share them too.
    let traceFeeds = TraceFeeds()

    /// Creates options with the standard connection.
    public init(
        clock: HostClock = .system, logger: Logger, trace: TraceFile? = nil, builtInPlugins: String, probe: [String],
        person: @escaping @Sendable () -> String = LoginName.current,
        words: @escaping @Sendable (Advice) -> String = { $0.description }
    ) {
        self.clock = clock
        self.logger = logger.of("host")
        self.trace = trace
        self.builtInPlugins = builtInPlugins
        self.probe = probe
        self.person = person
        self.words = words
    }

    /// Sets the bandwidth that the process's file transfers may use. The limits hold at once, for transfers under way
    /// too. There are none before the first call.
    public func setBandwidth(_ limits: BandwidthLimits) { bandwidth.setLimits(limits) }
}
