public import Logging
public import Model
import Synchronization
import Threads
import Transfer

/// The connection to an account's server. It sends requests and returns typed answers.
///
/// Call ``connect()`` first, and again after new credentials and after the server was unreachable. Any task may begin
/// listings and downloads, any number of them at the same time. As many of each kind are on the network at once as help,
/// and at most `Limits.connections` of all; the others wait for their turn. The same is true of uploads. Small requests
/// that change something wait for neither.
/// Every call ends when its task is cancelled. Call ``shutdown()`` last, in every case.
public final class Connection: Sendable {
    let bookmark: Bookmark
    let clock: HostClock
    let logger: Logger
    let timeLimits: TimeLimits
    /// The pace below which listings and downloads are given up; nil if there is none.
    let leastPace: LeastPace?
    /// The largest number of listings and downloads that are on the network at once.
    public let most: Int
    /// The gate of listings and downloads.
    let gate: RequestGate
    private let uploadGate: RequestGate
    /// The gate of small requests that change something, and of the questions that they need. They do not wait for a
    /// listing, a download or an upload.
    private let changeGate: RequestGate
    /// The batches under way.
    let batches = BatchesUnderWay()
    /// The questions about folders into which files were uploaded.
    let confirmations = Monitor(ConfirmationQueue())
    let resolver: ServiceResolver
    /// The advice for a person when the server's certificate is not trusted.
    let certificateHint: String
    private let limits: Limits
    /// The bandwidth of file transfers.
    let bandwidth: Bandwidth
    /// Whether requests go over the network, and not over a transport that was given.
    private let usesNetwork: Bool
    /// The answers of a person about the server.
    let approvals: ApprovalBook
    private let state: Mutex<State>

    private struct State {
        var login: Login
        /// The network, or the reason why it cannot be used.
        var transport: Result<any HTTPTransport, ConnectionError>
        /// The networks before, with other logins for the proxy. Requests may still be under way there.
        var retired: [any HTTPTransport] = []
        var proxyLogin: ProxyLogin?
        /// The number of credentials used so far. With it, a late rejection of old credentials does not lock out new
        /// ones.
        var generation = 0
        /// The reason why the credentials are no longer sent.
        var refusal: ConnectionError?
        /// Whether the server says that it cannot serve requests now.
        var isUnavailable = false
        /// Whether no request may be sent, because a person has paused the account.
        var isPaused = false
        /// What is known of the server.
        var knowledge = ServerKnowledge()
    }

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
        self.bookmark = bookmark
        self.clock = clock
        self.logger = logger
        self.timeLimits = timeLimits
        leastPace =
            limits.slowest > 0 ? LeastPace(bytesPerSecond: limits.slowest, period: timeLimits.pacePeriod) : nil
        self.resolver = resolver
        certificateHint = CertificateTrust.hint(bookmark.trust)
        most = max(1, limits.connections ?? Limits.mostByItself)
        gate = RequestGate(most: most, now: { clock.monotonic() }, freed: { [batches] in batches.tryTurns() })
        uploadGate = RequestGate(
            most: max(1, min(most, limits.uploads ?? most)), now: { clock.monotonic() },
            freed: { [batches] in batches.tryTurns() })
        changeGate = RequestGate(most: most, now: { clock.monotonic() })
        self.limits = limits
        self.bandwidth = bandwidth
        usesNetwork = transport == nil
        approvals = ApprovalBook(url: bookmark.url)
        let network =
            transport.map { .success($0) }
            ?? Self.network(bookmark, proxyLogin, approvals, limits, timeLimits, clock.now())
        state = Mutex(
            State(
                login: Login(credentials, isProtected: Self.isProtected(bookmark)), transport: network,
                proxyLogin: proxyLogin))
    }

    /// Returns the gate of a kind of requests.
    func gate(_ kind: RequestGate.Kind) -> RequestGate {
        switch kind {
        case .listing, .smallDownload, .largeDownload: gate
        case .smallUpload, .largeUpload: uploadGate
        case .change: changeGate
        }
    }

    /// The number of folders that it helps to list at the same time, as far as is known. It changes.
    public var listingsAtOnce: Int { gate.limit(.listing) }

    /// Returns the number of files that it helps to download at the same time, as far as is known. It changes.
    public func downloadsAtOnce(_ size: SizeClass) -> Int { gate.limit(.download(size)) }

    /// Returns the number of files that it helps to upload at the same time, as far as is known. It changes.
    public func uploadsAtOnce(_ size: SizeClass) -> Int { uploadGate.limit(.upload(size)) }

    private static func network(
        _ bookmark: Bookmark, _ proxyLogin: ProxyLogin?, _ approvals: ApprovalBook, _ limits: Limits,
        _ timeLimits: TimeLimits, _ now: Timestamp
    ) -> Result<any HTTPTransport, ConnectionError> {
        do throws(ConnectionError) {
            return .success(
                try NetworkTransport(
                    bookmark, now: now, proxyLogin: proxyLogin, approvals: approvals,
                    connections: limits.connections ?? Limits.mostByItself,
                    limits: timeLimits))
        } catch {
            return .failure(error)
        }
    }

    /// Replaces the credentials. Requests that a rejection held back may be made again, beginning with ``connect()``.
    /// - Parameters:
    ///   - credentials: The credentials for requests.
    ///   - proxyLogin: The login for the bookmark's proxy, if it needs one.
    public func use(_ credentials: Credentials, proxyLogin: ProxyLogin? = nil) {
        let hasOther = bookmark.proxy != nil && state.withLock { $0.proxyLogin != proxyLogin }
        // The files of the account's own certificate may have been written anew.
        let network =
            hasOther || bookmark.clientCertificate != nil
            ? Self.network(bookmark, proxyLogin, approvals, limits, timeLimits, clock.now()) : nil
        state.withLock { state in
            if let network {
                if case .success(let old) = state.transport { state.retired.append(old) }
                (state.transport, state.proxyLogin) = (network, proxyLogin)
            }
            state.login = Login(credentials, isProtected: Self.isProtected(bookmark))
            state.generation += 1
            state.refusal = nil
            state.knowledge.learn(.rootIsOpen)
        }
    }

    /// Heeds a person's answers about the server from the next request on. A connection that was not given any needs
    /// approval for nothing but a pinned key.
    ///
    /// What was not approved is an error of the kind `unapproved`, before any credentials are sent: plain HTTP to
    /// another machine, an old version, a redirect of the account's address to another server, and a pinned key.
    public func heed(_ answers: Approvals) {
        let address = try? bookmarkAddress()
        approvals.heed(answers)
        // Requests under way go on, unless the account's address is another one now.
        if (try? bookmarkAddress()) != address { learn(.rootIsOpen) }
    }

    /// The certificate that the server showed last; nil if it showed none, or none had to be read.
    public var certificate: ServerCertificate? { approvals.certificate }

    /// The reason why the credentials are no longer sent; nil while they are sent.
    public var refusal: ConnectionError? { state.withLock { $0.refusal } }

    /// Whether the server says that it cannot serve requests now. While it does, it is not asked for hints.
    public var isUnavailable: Bool {
        get { state.withLock { $0.isUnavailable } }
        set { state.withLock { $0.isUnavailable = newValue } }
    }

    /// Whether no request may be sent, because a person has paused the account. Each request fails then.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set { state.withLock { $0.isPaused = newValue } }
    }

    /// Closes all connections. Requests under way fail. Later requests make new connections.
    public func closeConnections() async {
        guard usesNetwork else { return }
        let proxyLogin = state.withLock { $0.proxyLogin }
        let network = Self.network(bookmark, proxyLogin, approvals, limits, timeLimits, clock.now())
        let closed: [any HTTPTransport] = state.withLock { state in
            // If a file that the account names cannot be read now, the connections stay.
            guard case .success(let new) = network, state.proxyLogin == proxyLogin else {
                if case .success(let new) = network { return [new] }
                return []
            }
            defer { (state.transport, state.retired) = (.success(new), []) }
            if case .success(let old) = state.transport { return state.retired + [old] }
            return state.retired
        }
        for transport in closed { await transport.shutdown() }
    }

    /// The time without a request after which connections are closed.
    public static var longestRest: Duration { TransferClient.longestRest }

    /// Closes the connections without a request under way, before ``longestRest`` has passed. Later requests make new ones.
    public func closeIdle() {
        if case .success(let transport) = state.withLock({ $0.transport }) { transport.closeIdle() }
    }

    /// Closes all connections. Requests under way fail. Make no request afterwards.
    public func shutdown() async {
        let (transport, retired) = state.withLock { ($0.transport, $0.retired) }
        if case .success(let transport) = transport { await transport.shutdown() }
        for transport in retired { await transport.shutdown() }
    }

    /// Returns the address of the account's files.
    /// - Throws: The error with which the server rejected the credentials; `unreachable` if `connect()` has not found
    ///   the address since the credentials were set.
    func root() throws(ConnectionError) -> ServerAddress {
        let (root, refusal) = state.withLock { ($0.knowledge.root, $0.refusal) }
        if let refusal { throw refusal }
        guard let root else {
            throw ConnectionError(.unreachable, "the account's server has not been connected to yet")
        }
        return root
    }

    /// What is known of the server.
    var knowledge: ServerKnowledge { state.withLock { $0.knowledge } }

    func learn(_ fact: ServerKnowledge.Fact) { state.withLock { $0.knowledge.learn(fact) } }

    /// The path of the account's files from the origin's root, percent-encoded, with a closing slash; nil if the server
    /// keeps no files or `connect()` has not found the path.
    public var filesHome: String? {
        let knowledge = knowledge
        return knowledge.hasFiles ? knowledge.root?.path : nil
    }

    /// The facts about the server that `connect()` found or was given; nil if there are none to keep.
    public var known: KnownServer? { knowledge.kept }

    /// What the server does differently when something is written, as far as it is known.
    public var writingManners: WritingManners { knowledge.manners }

    /// Returns what the account's root says that it can do, and asks it once.
    func rootClasses() async throws(ConnectionError) -> Set<String> {
        if let classes = knowledge.rootClasses { return classes }
        let classes = try await complianceClasses(of: try root())
        learn(.rootClasses(classes))
        return classes
    }

    /// Returns the manners by which something is about to be written. Asks what is decided by the answer to a question.
    func knownManners() async throws(ConnectionError) -> WritingManners {
        if knowledge.mannersAreOpen { _ = try await rootClasses() }
        return writingManners
    }

    /// Returns by how much this machine's clock is ahead of the server's clock, and forgets the server's time.
    ///
    /// The server's time is the time that the server told at the last listing, plus the time since then on the
    /// monotonic clock.
    /// - Returns: The difference; nil if there was no listing since the last call, or the server tells no time.
    public func takeClockAhead() -> Duration? {
        guard let said = state.withLock({ $0.knowledge.takeServersClock() }) else { return nil }
        return clock.now() - said.date - (clock.monotonic() - said.at)
    }

    /// The threads on which downloads arrive; empty if the transport has no such threads.
    ///
    /// A task that downloads and has one of these threads as its preferred executor takes the bytes on the thread on
    /// which they arrive, without a change of threads. The task may block on the disk there.
    public var downloadThreads: [any TaskExecutor] {
        if case .success(let transport) = state.withLock({ $0.transport }) { transport.downloadThreads } else { [] }
    }

    func usableTransport() throws(ConnectionError) -> any HTTPTransport {
        let (transport, isPaused) = state.withLock { ($0.transport, $0.isPaused) }
        if isPaused { throw ConnectionError(.unreachable, "the account is paused") }
        return try transport.get()
    }

    /// Checks that the credentials may be sent.
    /// - Returns: Their generation.
    /// - Throws: The error with which the server rejected the credentials, if it has.
    @discardableResult
    func usableCredentials() throws(ConnectionError) -> Int {
        let (generation, refusal) = state.withLock { ($0.generation, $0.refusal) }
        if let refusal { throw refusal }
        return generation
    }

    /// Takes a step of the login with the credentials of a generation.
    /// - Throws: The error with which the server rejected the credentials, if it has; `unreachable` if there are other
    ///   credentials by now, with which another attempt may succeed.
    func login<Result: Sendable>(
        _ generation: Int, _ step: (inout Login) -> Result
    ) throws(ConnectionError) -> Result {
        let result = state.withLock { state -> Result? in
            state.generation == generation && state.refusal == nil ? step(&state.login) : nil
        }
        if let result { return result }
        try usableCredentials()
        throw ConnectionError(.unreachable, "the account got other credentials while the server was asked")
    }

    /// Whether what is sent to an account's server cannot be read on the way: over TLS, and on this machine without a
    /// proxy.
    private static func isProtected(_ bookmark: Bookmark) -> Bool {
        guard let origin = try? ServerAddress(bookmark.url).origin else { return false }
        return origin.isTLS || origin.isLoopback && bookmark.proxy == nil
    }

    /// Holds back the credentials of a generation, because sending a wrong password again and again locks an account.
    ///
    /// No request with these credentials begins afterwards. Requests that are under way when a password stops working
    /// cannot be taken back, and the server may reject each of them. These are at most ``most`` listings and downloads,
    /// one request of the event loops, and the requests for hints. A rejected request for hints says nothing about the
    /// password.
    func hold(_ generation: Int, because refusal: ConnectionError) {
        state.withLock { state in
            if state.generation == generation { state.refusal = refusal }
        }
    }
}
