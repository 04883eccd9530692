import HummingbirdCore
import Synchronization

/// A server of the ownCloud family, WebDAV, CalDAV and OCS, in this process, on 127.0.0.1: what `larder demo` shows the
/// program with. What it serves is read through the network, and changed here alone.
public final class DemoServer: Sendable {
    /// A request that was answered.
    public struct LoggedRequest: Sendable {
        public var method: String
        /// The item's path in the tree; for other targets the target's path.
        public var path: String
        public var status: Int
        /// The bytes of the answer's body that were sent.
        public var bytes: Int
    }

    /// The files that are served.
    public let tree: Tree
    /// The calendars that are served beside them.
    public let calendars: Calendars
    public let shares: Shares
    public let user: String
    public let password: String

    private let answers: Answers
    private let listener: Listener

    /// The server's address: `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(listener.port)" }

    /// Starts a server; whoever starts it stops it.
    /// - Throws: if it cannot listen.
    public static func start() async throws -> DemoServer { try await DemoServer() }

    private init() async throws {
        let service = Service(site: Site(user: "demo", password: Site.randomPassword()))
        (tree, calendars, shares) = (service.tree, service.calendars, service.shares)
        (user, password) = (service.site.user, service.site.password)
        answers = Answers(service)
        listener = try await Listener(answering: answers, as: service.site, builder: .http1())
    }

    /// Stops the server and closes all connections.
    public func stop() async { await listener.stop() }

    /// The requests that were answered, in that order.
    public var requests: [LoggedRequest] { answers.log.withLock { $0 } }

    public func forgetRequests() { answers.log.withLock { $0 = [] } }
}

/// The answers of a server that does everything right, and their log.
private final class Answers: Answering {
    let log = Mutex<[DemoServer.LoggedRequest]>([])
    private let service: Service

    init(_ service: Service) { self.service = service }

    func answer(to asked: inout Asked) async throws -> Answer { try await service.answer(to: &asked) }

    func sent(_ bytes: Int, status: Int, to asked: Asked) {
        log.withLock { $0.append(.init(method: asked.method, path: asked.item, status: status, bytes: bytes)) }
    }
}
