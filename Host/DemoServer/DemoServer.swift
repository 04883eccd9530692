import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import Threads

/// A server of the ownCloud family, WebDAV, CalDAV and OCS, in this process, on 127.0.0.1: what `larder demo` shows the program with, and
/// what tests see it fail with. Its faults can be switched here alone, never through the network.
///
/// ```swift
/// try await DemoServer.running { server in
///     server.tree.put("/Photos/cat.jpg", bytes)
///     server.add(Fault(.status(503, retryAfter: 1), method: "GET", times: 2))
/// }
/// ```
public final class DemoServer: Sendable {
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
    public let port: Int
    /// The files that are served.
    public let tree: Tree
    /// The calendars that are served beside them.
    public let calendars: Calendars
    public let shares: Shares
    public let hints: Hints
    public let events: EventFeed

    private let manner: MannerBox
    private let faults: FaultList
    private let log: RequestLog
    private let running: Task<Void, any Error>

    /// The server's address: `http://127.0.0.1:PORT`.
    public var url: String { "\(configuration.certificate == nil ? "http" : "https")://127.0.0.1:\(port)" }

    /// The address of the served folder.
    public var folderURL: String { "\(url)\(configuration.bases[0])/" }

    /// Starts a server; whoever starts it stops it.
    /// - Throws: if it cannot listen, or the certificate cannot be read.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> DemoServer {
        try await DemoServer(configuration)
    }

    /// Runs a server for as long as `body` runs.
    public static func running<Result>(
        _ configuration: Configuration = Configuration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (DemoServer) async throws -> Result
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
        (tree, manner, faults, log) = (Tree(), MannerBox(configuration.manner), FaultList(), RequestLog())
        (calendars, shares, hints) = (Calendars(user: configuration.user), Shares(), Hints())
        events = EventFeed()
        tree.setPropagation(configuration.manner.propagation)
        let responder = DemoResponder(
            configuration: configuration,
            served: Served(tree: tree, calendars: calendars, shares: shares, hints: hints, events: events),
            manner: manner, faults: faults, log: log,
            upload: Upload(folder: configuration.scratchFolder))
        var logger = Logger(label: "demo server")
        logger.logLevel = .critical
        let (ports, started) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: responder, server: try Self.builder(configuration),
            configuration: .init(address: .hostname("127.0.0.1", port: configuration.port)),
            onServerRunning: { channel in started.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        running = Task(executorPreference: BlockingExecutor.ofServers) {
            do {
                try await application.run()
                started.finish()
            } catch {
                started.finish(throwing: error)
                throw error
            }
        }
        var iterator = ports.makeAsyncIterator()
        guard let port = try await iterator.next() else { throw CancellationError() }
        self.port = port
    }

    /// Stops the server: lets go what faults hold up and closes all connections.
    public func stop() async {
        faults.removeAll()
        hints.close()
        running.cancel()
        _ = await running.result
    }

    /// The requests that were answered, in that order.
    public var requests: [LoggedRequest] { log.all }

    public func forgetRequests() { log.clear() }

    /// Changes how the server behaves, for the requests that follow.
    public func behave(_ change: (inout Manner) -> Void) { tree.setPropagation(manner.change(change).propagation) }

    /// Switches a fault on.
    @discardableResult public func add(_ fault: Fault) -> FaultID { faults.add(fault) }

    /// Switches a fault off; what it holds up goes on.
    public func remove(_ fault: FaultID) { faults.remove(fault) }

    public func removeFaults() { faults.removeAll() }

    /// Waits until a `hold` fault has held up `count` requests since it was switched on, or was switched off.
    public func untilHeld(_ fault: FaultID, count: Int = 1) async { await faults.untilHeld(fault, count: count) }

    private static func builder(_ configuration: Configuration) throws -> HTTPServerBuilder {
        guard let certificate = configuration.certificate else { return .http1() }
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.file).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: certificate.key, format: .pem)
        return try .tls(
            tlsConfiguration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
    }
}

extension Tree {
    func setPropagation(_ propagation: Manner.Propagation) { change { $0.propagation = propagation } }
}
