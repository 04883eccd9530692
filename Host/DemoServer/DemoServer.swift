import Synchronization

/// A server of the ownCloud family in this process, on 127.0.0.1, with WebDAV, CalDAV and OCS. `larder demo` shows the
/// program with it. Clients read and write files over the network; calendars and shares are changed through this class
/// alone.
public final class DemoServer: Sendable {
    /// A request that was answered.
    public struct LoggedRequest: Sendable {
        /// The request's method.
        public var method: String
        /// The item's path in the tree; for other targets the target's path.
        public var path: String
        /// The answer's status; 0 if the connection was closed without an answer.
        public var status: Int
        /// The number of bytes of the answer's body that were sent.
        public var bytes: Int
    }

    /// The files that are served.
    public let tree: Tree
    /// The calendars that are served beside the files.
    public let calendars: Calendars
    /// The shares of the user.
    public let shares: Shares
    /// The user's name.
    public let user: String
    /// The user's password.
    public let password: String

    private let answers: Answers
    private let listener: Listener

    /// The server's address: `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(listener.port)" }

    /// Starts a server. The caller must stop it.
    /// - Throws: An error if the server cannot listen.
    public static func start() async throws -> DemoServer { try await DemoServer() }

    private init() async throws {
        let service = Service(site: Site(user: "demo", password: Site.randomPassword()))
        (tree, calendars, shares) = (service.tree, service.calendars, service.shares)
        (user, password) = (service.site.user, service.site.password)
        answers = Answers(service)
        listener = try Listener(answering: answers, as: service.site)
    }

    /// Stops the server and closes all connections.
    public func stop() async { await listener.stop() }

    /// The answered requests, in the order of the answers.
    public var requests: [LoggedRequest] { answers.log.withLock { $0 } }

    /// Empties the log of answered requests.
    public func forgetRequests() { answers.log.withLock { $0 = [] } }
}

/// The answers of a server without faults, and their log.
private final class Answers: Answering {
    let log = Mutex<[DemoServer.LoggedRequest]>([])
    private let service: Service

    init(_ service: Service) { self.service = service }

    func answer(to asked: inout Asked) async throws -> Answer { try await service.answer(to: &asked) }

    func sent(_ bytes: Int, status: Int, to asked: Asked) {
        log.withLock { $0.append(.init(method: asked.method, path: asked.item, status: status, bytes: bytes)) }
    }
}
