public import DemoServer
import HummingbirdCore
import HummingbirdTLS
import NIOSSL
import Synchronization

/// The demo server with all that other servers do otherwise and do wrong: what tests see the program fail with. Its faults
/// can be switched here alone, never through the network.
///
/// ```swift
/// try await TestServer.running { server in
///     server.tree.put("/Photos/cat.jpg", bytes)
///     server.add(Fault(.status(503, retryAfter: 1), method: "GET", times: 2))
/// }
/// ```
public final class TestServer: Sendable {
    /// A request that was answered.
    public struct LoggedRequest: Hashable, Sendable {
        public var method: String
        /// The item's path in the tree; for other targets the target's path.
        public var path: String
        public var status: Int
        /// The request's `Range` field.
        public var range: String?
        /// The bytes of the answer's body that were sent.
        public var bytes: Int
        /// What stands after the target's `?`.
        public var query: String?
        /// The request's body; nil unless it was for the calendars.
        public var body: String?

        public init(method: String, path: String, status: Int, range: String?, bytes: Int) {
            (self.method, self.path, self.status, self.range, self.bytes) = (method, path, status, range, bytes)
        }
    }

    public let configuration: Configuration
    /// The files that are served.
    public let tree: Tree
    /// The calendars that are served beside them.
    public let calendars: Calendars
    public let shares: Shares
    public let hints = Hints()
    public let events = EventFeed()

    private let answers: TestAnswers
    private let listener: Listener

    public var port: Int { listener.port }

    /// The server's address: `http://127.0.0.1:PORT`.
    public var url: String { "\(configuration.site.scheme)://127.0.0.1:\(port)" }

    /// The address of the served folder.
    public var folderURL: String { "\(url)\(configuration.site.bases[0])/" }

    /// Starts a server; whoever starts it stops it.
    /// - Throws: if it cannot listen, or the certificate cannot be read.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> TestServer {
        try await TestServer(configuration)
    }

    /// Runs a server for as long as `body` runs.
    public static func running<Result>(
        _ configuration: Configuration = Configuration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (TestServer) async throws -> Result
    ) async throws -> Result {
        let server = try await start(configuration)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    private init(_ configuration: Configuration) async throws {
        self.configuration = configuration
        let service = Service(site: configuration.site)
        (tree, calendars, shares) = (service.tree, service.calendars, service.shares)
        answers = TestAnswers(configuration, service, hints, events)
        tree.tell(configuration.manner.propagation)
        listener = try await Listener(
            answering: answers, as: configuration.site, builder: Self.builder(configuration), port: configuration.port)
    }

    /// Stops the server: lets go what faults hold up and closes all connections.
    public func stop() async {
        answers.faults.removeAll()
        hints.close()
        await listener.stop()
    }

    /// The requests that were answered, in that order.
    public var requests: [LoggedRequest] { answers.log.withLock { $0 } }

    public func forgetRequests() { answers.log.withLock { $0 = [] } }

    /// Changes how the server behaves, for the requests that follow.
    public func behave(_ change: (inout Manner) -> Void) {
        let manner = answers.manner.withLock { manner in
            change(&manner)
            return manner
        }
        tree.tell(manner.propagation)
    }

    /// Switches a fault on.
    @discardableResult public func add(_ fault: Fault) -> FaultID { answers.faults.add(fault) }

    /// Switches a fault off; what it holds up goes on.
    public func remove(_ fault: FaultID) { answers.faults.remove(fault) }

    public func removeFaults() { answers.faults.removeAll() }

    /// Waits until a `hold` fault has held up `count` requests since it was switched on, or was switched off.
    public func untilHeld(_ fault: FaultID, count: Int = 1) async {
        await answers.faults.untilHeld(fault, count: count)
    }

    private static func builder(_ configuration: Configuration) throws -> HTTPServerBuilder {
        guard let certificate = configuration.certificate else { return .http1() }
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.file).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: certificate.key, format: .pem)
        return try .tls(
            tlsConfiguration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
    }
}

extension Tree {
    /// Says how far changes are told from now on.
    fileprivate func tell(_ propagation: Manner.Propagation) { change { $0.levelsTold = propagation.levels } }
}
