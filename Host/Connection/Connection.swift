public import Logging
public import Model
import Synchronization

/// The way to an account's server: requests out, typed answers in.
///
/// `connect()` comes first, and again after new credentials or when the server was away. Any number of listings and downloads
/// may be under way at a time, from any task; no more than `Limits.connections` of them are on the network at once, the others
/// wait their turn. Every call ends when its task is cancelled. `shutdown()` comes last, always.
public final class Connection: Sendable {
    let bookmark: Bookmark
    let clock: HostClock
    let logger: Logger
    let timeLimits: TimeLimits
    /// The most requests that are on the network at once, but for those of event loops.
    public let width: Int
    let gate: RequestGate
    let resolver: ServiceResolver
    /// What to do about a certificate that is not trusted.
    let certificateHint: String
    /// The network; or why it cannot be used.
    private let transport: Result<any HTTPTransport, ConnectionError>
    private let state: Mutex<State>

    private struct State {
        var credentials: Credentials
        /// Counts the credentials, so that a late refusal of old ones does not lock out new ones.
        var generation = 0
        /// Why the credentials are not sent any more.
        var refusal: ConnectionError?
        /// Where the account's files are, once that is known.
        var root: ServerAddress?
        var hasFiles = false
        var isFamily = false
        /// Whether the server says that it cannot serve now.
        var isUnavailable = false
        /// What was found out, to be kept.
        var known: KnownServer?
        /// Whether a property of the ownCloud family was in the root's last listing.
        var rootHasFamilyProperties = true
        /// What the server's clock said at the last listing, and when that was by the monotonic clock; nil: it was asked for since.
        var serversClock: (date: Timestamp, at: Duration)?
    }

    /// - Parameters:
    ///   - bookmark: where the server is and how it proves itself.
    ///   - credentials: what it is asked with. They are sent to the bookmark's origin alone.
    ///   - limits: `connections` is the most requests that are on the network at once.
    ///   - clock: waits between attempts.
    ///   - logger: gets a line for each request at `debug`, without secrets.
    public convenience init(
        bookmark: Bookmark, credentials: Credentials, limits: Limits = Limits(), clock: HostClock = .system,
        logger: Logger
    ) {
        self.init(
            bookmark: bookmark, credentials: credentials, limits: limits, clock: clock, logger: logger,
            timeLimits: TimeLimits())
    }

    /// - Parameters:
    ///   - transport: nil: the network.
    ///   - resolver: asks the name server where services are.
    init(
        bookmark: Bookmark, credentials: Credentials, limits: Limits, clock: HostClock, logger: Logger,
        timeLimits: TimeLimits, transport: (any HTTPTransport)? = nil, resolver: ServiceResolver = .system
    ) {
        self.bookmark = bookmark
        self.clock = clock
        self.logger = logger
        self.timeLimits = timeLimits
        self.resolver = resolver
        certificateHint = CertificateTrust.hint(bookmark.trust)
        width = max(1, limits.connections)
        gate = RequestGate(width: width)
        state = Mutex(State(credentials: credentials))
        if let transport {
            self.transport = .success(transport)
        } else {
            do throws(ConnectionError) {
                self.transport = .success(
                    try AsyncHTTPClientTransport(
                        trust: bookmark.trust, connections: limits.connections, limits: timeLimits))
            } catch {
                self.transport = .failure(error)
            }
        }
    }

    /// Exchanges the credentials. Requests that a refusal held back may be made again, beginning with `connect()`.
    public func use(_ credentials: Credentials) {
        state.withLock { state in
            state.credentials = credentials
            state.generation += 1
            state.refusal = nil
            state.root = nil
        }
    }

    /// Why the credentials are not sent any more; nil: they are.
    public var refusal: ConnectionError? { state.withLock { $0.refusal } }

    /// Whether the server says that it cannot serve now: then nobody asks it for hints.
    public var isUnavailable: Bool {
        get { state.withLock { $0.isUnavailable } }
        set { state.withLock { $0.isUnavailable = newValue } }
    }

    /// Closes all connections. Requests under way fail; nothing may be asked for afterwards.
    public func shutdown() async {
        if case .success(let transport) = transport { await transport.shutdown() }
    }

    /// Where the account's files are.
    /// - Throws: if `connect()` has not found out yet, or the credentials were refused since.
    func root() throws(ConnectionError) -> ServerAddress {
        let (root, refusal) = state.withLock { ($0.root, $0.refusal) }
        if let refusal { throw refusal }
        guard let root else {
            throw ConnectionError(.unreachable, "the account's server has not been connected to yet")
        }
        return root
    }

    /// Where the account's files are, if `connect()` has found out.
    func foundRoot() -> ServerAddress? { state.withLock { $0.root } }

    /// The path of the account's files from the origin's root, percent-encoded, with a closing slash; nil: the server keeps none, or was not
    /// connected to yet.
    public var filesHome: String? { state.withLock { $0.hasFiles ? $0.root?.path : nil } }

    /// The root, and whether the server is of the ownCloud family; nil if it was not connected to yet.
    func knownRoot() -> (root: ServerAddress, isFamily: Bool)? {
        state.withLock { state in state.root.map { ($0, state.isFamily) } }
    }

    func setRoot(_ root: ServerAddress, hasFiles: Bool, isFamily: Bool) {
        state.withLock { ($0.root, $0.hasFiles, $0.isFamily) = (root, hasFiles, isFamily) }
    }

    /// What was found out about the server since `connect()`, or was known before; nil: nothing that could be kept.
    public var known: KnownServer? { state.withLock { $0.known } }

    func setKnown(_ known: KnownServer?) { state.withLock { $0.known = known } }

    func changeKnown(_ change: (inout KnownServer) -> Void) {
        state.withLock { state in
            guard var known = state.known else { return }
            change(&known)
            state.known = known
        }
    }

    /// Whether it makes sense to ask for the properties of the ownCloud family.
    var mayHaveFamilyProperties: Bool { state.withLock { $0.isFamily || $0.rootHasFamilyProperties } }

    func noteRoot(hasFamilyProperties: Bool) {
        state.withLock { $0.rootHasFamilyProperties = hasFamilyProperties }
    }

    /// By how much this machine's clock is ahead of what the server's said when something was listed last, and the time that has
    /// passed since; nil if nothing was listed since this was asked, or the server tells no time.
    public func takeClockAhead() -> Duration? {
        guard let said = state.withLock({ $0.serversClock.take() }) else { return nil }
        return clock.now() - said.date - (clock.monotonic() - said.at)
    }

    func noteServersClock(_ date: Timestamp) {
        let now = clock.monotonic()
        state.withLock { $0.serversClock = (date, now) }
    }

    /// The threads that downloads arrive on: a task that downloads and has one of these as its preferred executor takes the bytes
    /// where they come from, without a change of threads. It may block there on the disk. None if there are no such threads.
    public var downloadThreads: [any TaskExecutor] {
        if case .success(let transport) = transport { transport.downloadThreads } else { [] }
    }

    func usableTransport() throws(ConnectionError) -> any HTTPTransport { try transport.get() }

    /// The credentials, unless the server has refused them.
    func usableCredentials() throws(ConnectionError) -> (credentials: Credentials, generation: Int) {
        let (credentials, generation, refusal) = state.withLock { ($0.credentials, $0.generation, $0.refusal) }
        if let refusal { throw refusal }
        return (credentials, generation)
    }

    /// Holds back the credentials of a generation: a wrong password that is sent again and again locks an account.
    ///
    /// No request begins with them from then on. What is on its way when a password stops working cannot be taken back, and each of
    /// these requests may be refused: `width` listings and downloads at most, one request of the event loops, and what asks for hints,
    /// whose refusal is no word on the password.
    func hold(_ generation: Int, because refusal: ConnectionError) {
        state.withLock { state in
            if state.generation == generation { state.refusal = refusal }
        }
    }
}
