public import DemoServer
import Synchronization

/// The demo server with the differences and the faults of other servers: tests see with it how the program handles
/// them. The faults can be switched here alone, never through the network.
///
/// ```swift
/// try await TestServer.running { server in
///     server.tree.put("/Photos/cat.jpg", bytes)
///     server.add(Fault(.status(503, retryAfter: 1), method: "GET", times: 2))
/// }
/// ```
public final class TestServer: Sendable {
    /// A request that the server has answered.
    public struct LoggedRequest: Hashable, Sendable {
        public var method: String
        /// The item's path in the tree; for other targets the target's path.
        public var path: String
        /// The answer's status; 0 if the connection was closed without an answer.
        public var status: Int
        /// The request's `Range` field.
        public var range: String?
        /// The number of bytes of the answer's body that were sent.
        public var bytes: Int
        /// The text after the target's `?`.
        public var query: String?
        /// The request's body; nil unless the request was for the calendars.
        public var body: String?

        public init(method: String, path: String, status: Int, range: String?, bytes: Int) {
            (self.method, self.path, self.status, self.range, self.bytes) = (method, path, status, range, bytes)
        }
    }

    public let configuration: Configuration
    /// The files that the server serves.
    public let tree: Tree
    /// The calendars that the server serves beside the files.
    public let calendars: Calendars
    /// The shares that the server lists.
    public let shares: Shares
    /// The hints of changes that the server gives.
    public let hints = Hints()
    /// The server's plain JSON events.
    public let events = EventFeed()

    private let answers: TestAnswers
    var rules: Rules { answers.rules }
    private let listener: Listener
    private let relay: TLSRelay?

    /// The port on 127.0.0.1 on which the server listens.
    public var port: Int { relay?.port ?? listener.port }

    /// The server's address: `http://127.0.0.1:PORT`, or `https://127.0.0.1:PORT` with a certificate.
    public var url: String { "\(configuration.site.scheme)://127.0.0.1:\(port)" }

    /// The address of the served folder.
    public var folderURL: String { "\(url)\(configuration.site.bases[0])/" }

    /// Starts a server. The caller stops it.
    /// - Throws: an error if the server cannot listen, or if the certificate cannot be read.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> TestServer {
        try await TestServer(configuration)
    }

    /// Runs a server while `body` runs.
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
        let service = Service(site: configuration.site, clock: configuration.clock ?? Tree.systemClock)
        (tree, calendars, shares) = (service.tree, service.calendars, service.shares)
        answers = TestAnswers(configuration, service, hints, events)
        tree.tell(configuration.manner.propagation)
        let isSecure = configuration.certificate != nil
        listener = try Listener(
            answering: answers, as: configuration.site, port: isSecure ? 0 : configuration.port)
        do {
            relay = try configuration.certificate.map { [listener] in
                try TLSRelay(to: listener.port, certificate: $0.file, key: $0.key, port: configuration.port)
            }
        } catch {
            await listener.stop()
            throw error
        }
    }

    /// Stops the server: releases the requests that faults hold, and closes all connections.
    public func stop() async {
        answers.faults.removeAll()
        hints.close()
        await listener.stop()
        relay?.stop()
    }

    /// The answered requests, in the order of their answers.
    public var requests: [LoggedRequest] { answers.log.withLock { $0 } }

    /// Whether no client is connected, and every request of those that were is in the list.
    public var isLeft: Bool { listener.connections == 0 }

    /// Empties the list of answered requests.
    public func forgetRequests() { answers.log.withLock { $0 = [] } }

    /// Returns the number of requests that were answered, or whose connection was closed without an answer.
    /// - Parameters:
    ///   - method: the requests' method; nil for all methods.
    ///   - path: the requests' path, as in the list of requests; nil for all paths.
    public func count(_ method: String? = nil, _ path: String? = nil) -> Int {
        requests.count(where: { $0.method == method ?? $0.method && $0.path == path ?? $0.path })
    }

    /// The number of bytes of files that came in the bodies of requests, whatever became of them.
    public var receivedBytes: Int { answers.received.withLock { $0 } }

    /// The number of resumable uploads that are neither complete nor dropped.
    public var openUploads: Int { answers.uploads.count + answers.chunks.count }

    /// The requests that no client may send, such as those to Nextcloud's endpoint for many files, which writes over
    /// what others have put there.
    public var violations: [String] { answers.chunks.violations }

    /// Changes the server's manner for the requests that follow.
    public func behave(_ change: (inout Manner) -> Void) {
        let manner = answers.manner.withLock { manner in
            change(&manner)
            return manner
        }
        tree.tell(manner.propagation)
    }

    /// Switches a fault on.
    @discardableResult public func add(_ fault: Fault) -> FaultID { answers.faults.add(fault) }

    /// Switches a fault off. The requests that the fault holds continue.
    public func remove(_ fault: FaultID) { answers.faults.remove(fault) }

    /// Switches all faults off. The requests that they hold continue.
    public func removeFaults() { answers.faults.removeAll() }

    /// Waits until a `hold` fault has held `count` requests since it was switched on, or until the fault is switched
    /// off.
    public func untilHeld(_ fault: FaultID, count: Int = 1) async {
        await answers.faults.untilHeld(fault, count: count)
    }
}

extension Tree {
    /// Sets which folders' ETags change with an item from now on.
    fileprivate func tell(_ propagation: Manner.Propagation) { change { $0.levelsTold = propagation.levels } }
}
