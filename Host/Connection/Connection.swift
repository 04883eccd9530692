public import Logging
public import Model
import Synchronization
import Transfer

/// The connection to an account's server. It sends requests and returns typed answers.
///
/// Call ``connect()`` first, and again after new credentials and after the server was unreachable. Any task may begin
/// listings and downloads, any number of them at the same time. As many of each kind are on the network at once as help,
/// and at most `Limits.connections` of all; the others wait for their turn. The same is true of uploads. Small requests
/// that change something wait for neither.
/// Every call ends when its task is cancelled. Call ``shutdown()`` last, in every case.
public final class Connection: Sendable {
    /// The way to the server.
    let wire: Wire
    /// Listings of folders, and questions about items.
    public let listings: Listings
    /// Downloads of files.
    public let downloads: Downloads
    /// Uploads and other changes.
    public let writes: Writes
    /// The requests of event loops.
    public let loopRequests: LoopRequests

    /// Creates the connection of an account. Sends nothing.
    /// - Parameters:
    ///   - bookmark: The account's bookmark, with the server's address and the way in which the server proves its
    ///     identity.
    ///   - credentials: The credentials for requests. They are sent to the bookmark's origin only.
    ///   - proxyLogin: The login for the bookmark's proxy, if it needs one.
    ///   - limits: The limits to keep. `connections` is the largest number of listings and downloads on the network at
    ///     once, and of uploads unless `uploads` is less, and `slowest` the pace below which they are given up.
    ///   - bandwidth: The bandwidth that the contents of files may use. The limits' own `bandwidth` is not heeded, since
    ///     it is for all connections of the process.
    ///   - clock: The clock that waits between attempts.
    ///   - logger: The logger. It gets one line for each request at level `debug`, without secrets.
    public convenience init(
        bookmark: Bookmark, credentials: Credentials, proxyLogin: ProxyLogin? = nil, limits: Limits = Limits(),
        bandwidth: Bandwidth = Bandwidth(), clock: HostClock = .system, logger: Logger
    ) {
        self.init(
            bookmark: bookmark, credentials: credentials, proxyLogin: proxyLogin, limits: limits, bandwidth: bandwidth,
            clock: clock, logger: logger, timeLimits: TimeLimits())
    }

    /// Creates a connection with a given transport and resolver.
    /// - Parameters:
    ///   - transport: The transport for requests; nil stands for the network.
    ///   - resolver: The resolver that asks the name server for the addresses of services.
    init(
        bookmark: Bookmark, credentials: Credentials, proxyLogin: ProxyLogin? = nil, limits: Limits,
        bandwidth: Bandwidth = Bandwidth(), clock: HostClock, logger: Logger, timeLimits: TimeLimits,
        transport: (any HTTPTransport)? = nil, resolver: ServiceResolver = .system
    ) {
        wire = Wire(
            bookmark: bookmark, credentials: credentials, proxyLogin: proxyLogin, limits: limits, bandwidth: bandwidth,
            clock: clock, logger: logger, timeLimits: timeLimits, transport: transport)
        listings = Listings(wire: wire)
        downloads = Downloads(wire: wire)
        writes = Writes(wire: wire)
        loopRequests = LoopRequests(wire: wire, resolver: resolver)
    }

    /// The largest number of listings and downloads that are on the network at once.
    public var most: Int { wire.most }

    /// Replaces the credentials. Requests that a rejection held back may be made again, beginning with ``connect()``.
    /// - Parameters:
    ///   - credentials: The credentials for requests.
    ///   - proxyLogin: The login for the bookmark's proxy, if it needs one.
    public func use(_ credentials: Credentials, proxyLogin: ProxyLogin? = nil) {
        wire.use(credentials, proxyLogin: proxyLogin)
    }

    /// Heeds a person's answers about the server from the next request on. A connection that was not given any needs
    /// approval for nothing but a pinned key.
    ///
    /// What was not approved is an error of the kind `unapproved`, before any credentials are sent: plain HTTP to
    /// another machine, an old version, a redirect of the account's address to another server, and a pinned key.
    public func heed(_ answers: Approvals) {
        let address = try? wire.bookmarkAddress()
        wire.approvals.heed(answers)
        // Requests under way go on, unless the account's address is another one now.
        if (try? wire.bookmarkAddress()) != address { wire.learn(.rootIsOpen) }
    }

    /// The certificate that the server showed last; nil if it showed none, or none had to be read.
    public var certificate: ServerCertificate? { wire.approvals.certificate }

    /// The reason why the credentials are no longer sent; nil while they are sent.
    public var refusal: ConnectionError? { wire.refusal }

    /// Whether the server says that it cannot serve requests now. While it does, it is not asked for hints.
    public var isUnavailable: Bool {
        get { wire.isUnavailable }
        set { wire.isUnavailable = newValue }
    }

    /// Whether no request may be sent, because a person has paused the account. Each request fails then.
    public var isPaused: Bool {
        get { wire.isPaused }
        set { wire.isPaused = newValue }
    }

    /// Closes all connections. Requests under way fail. Later requests make new connections.
    public func closeConnections() async { await wire.closeConnections() }

    /// The time without a request after which connections are closed.
    public static var longestRest: Duration { TransferClient.longestRest }

    /// Closes the connections without a request under way, before ``longestRest`` has passed. Later requests make new ones.
    public func closeIdle() { wire.closeIdle() }

    /// Closes all connections. Requests under way fail. Make no request afterwards.
    public func shutdown() async { await wire.shutdown() }

    /// The path of the account's files from the origin's root, percent-encoded, with a closing slash; nil if the server
    /// keeps no files or `connect()` has not found the path.
    public var filesHome: String? {
        let knowledge = wire.knowledge
        return knowledge.hasFiles ? knowledge.root?.path : nil
    }

    /// The facts about the server that `connect()` found or was given; nil if there are none to keep.
    public var known: KnownServer? { wire.knowledge.kept }

    /// Returns by how much this machine's clock is ahead of the server's clock, and forgets the server's time.
    ///
    /// The server's time is the time that the server told at the last listing, plus the time since then on the
    /// monotonic clock.
    /// - Returns: The difference; nil if there was no listing since the last call, or the server tells no time.
    public func takeClockAhead() -> Duration? {
        guard let said = wire.takeServersClock() else { return nil }
        return wire.clock.now() - said.date - (wire.clock.monotonic() - said.at)
    }
}
