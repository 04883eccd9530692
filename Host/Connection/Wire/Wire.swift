import Logging
import Model
import Synchronization
import Transfer

/// The way to an account's server: its network, the login, the turns that requests take, and what is known of the
/// server. What asks for something in particular is built on it.
final class Wire: Sendable {
    let bookmark: Bookmark
    let clock: HostClock
    let logger: Logger
    let timeLimits: TimeLimits
    /// The pace below which listings and downloads are given up; nil if there is none.
    let leastPace: LeastPace?
    /// The largest number of listings and downloads that are on the network at once.
    let most: Int
    /// The gate of listings and downloads.
    let gate: RequestGate
    private let uploadGate: RequestGate
    /// The gate of small requests that change something, and of the questions that they need. They do not wait for a
    /// listing, a download or an upload.
    private let changeGate: RequestGate
    /// The batches under way.
    let batches = BatchesUnderWay()
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

    /// Creates the way to a server. Sends nothing.
    /// - Parameters:
    ///   - transport: The transport for requests; nil stands for the network.
    init(
        bookmark: Bookmark, credentials: Credentials, proxyLogin: ProxyLogin?, limits: Limits, bandwidth: Bandwidth,
        clock: HostClock, logger: Logger, timeLimits: TimeLimits, transport: (any HTTPTransport)?
    ) {
        self.bookmark = bookmark
        self.clock = clock
        self.logger = logger
        self.timeLimits = timeLimits
        leastPace =
            limits.slowest > 0 ? LeastPace(bytesPerSecond: limits.slowest, period: timeLimits.pacePeriod) : nil
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

    /// Replaces the credentials, as ``Connection/use(_:proxyLogin:)``.
    func use(_ credentials: Credentials, proxyLogin: ProxyLogin?) {
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

    /// Closes all connections, as ``Connection/closeConnections()``.
    func closeConnections() async {
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

    /// Closes the connections without a request under way.
    func closeIdle() { if case .success(let transport) = state.withLock({ $0.transport }) { transport.closeIdle() } }

    /// Closes all connections for good.
    func shutdown() async {
        let (transport, retired) = state.withLock { ($0.transport, $0.retired) }
        if case .success(let transport) = transport { await transport.shutdown() }
        for transport in retired { await transport.shutdown() }
    }

    /// The reason why the credentials are no longer sent; nil while they are sent.
    var refusal: ConnectionError? { state.withLock { $0.refusal } }

    /// Whether the server says that it cannot serve requests now.
    var isUnavailable: Bool {
        get { state.withLock { $0.isUnavailable } }
        set { state.withLock { $0.isUnavailable = newValue } }
    }

    /// Whether no request may be sent.
    var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set { state.withLock { $0.isPaused = newValue } }
    }

    /// The threads on which downloads arrive, as ``Downloads/downloadThreads``.
    var downloadThreads: [any TaskExecutor] {
        if case .success(let transport) = state.withLock({ $0.transport }) { transport.downloadThreads } else { [] }
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

    /// Takes the server's clock; see ``ServerKnowledge/takeServersClock()``.
    func takeServersClock() -> (date: Timestamp, at: Duration)? {
        state.withLock { $0.knowledge.takeServersClock() }
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

    /// Returns the account's url, or the address to which approved redirects lead, as an address with a closing slash.
    /// - Throws: `badAddress` if the url cannot be used.
    func bookmarkAddress() throws(ConnectionError) -> ServerAddress {
        let hint = "url in the account's config is https://HOST or https://HOST/PATH"
        let address: ServerAddress
        do { address = try ServerAddress(bookmark.url) } catch {
            let why =
                switch error {
                case .notHTTP: "it does not begin with http:// or https://"
                case .noHost: "it has no host"
                case .badPort: "its port is not a number from 1 to 65535"
                case .hasCredentials: "it contains a name or password, which belong under username and password"
                case .badCharacter: "it contains a space or another character that an address cannot contain"
                }
            throw ConnectionError(.badAddress, "the url of account \(bookmark.name) cannot be used: \(why)", hint: hint)
        }
        if bookmark.trust != .system || bookmark.clientCertificate != nil, !address.origin.isTLS {
            throw ConnectionError(
                .badAddress,
                "the url of account \(bookmark.name) is not https, so no certificate can be shown, as tls requires",
                hint: "change the url to https://, or remove tls from the config")
        }
        return approvals.target(of: address.asFolder)
    }
}
