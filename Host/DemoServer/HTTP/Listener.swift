import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Threads

/// A server's socket on 127.0.0.1, and the task that answers its requests.
package final class Listener: Sendable {
    package let port: Int
    private let running: Task<Void, any Error>
    private let arrivals: Arrivals

    /// Starts listening.
    /// - Parameters:
    ///   - answering: The part that answers the requests.
    ///   - site: The user and the paths of the server.
    ///   - port: The port; 0 lets the system choose.
    /// - Throws: An error if the socket cannot listen.
    package init(answering: some Answering, as site: Site, port: Int = 0) async throws {
        let arrivals = Arrivals()
        var logger = Logger(label: "demo server")
        logger.logLevel = .critical
        let (ports, started) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: Responder(site: site, answering: answering),
            server: HTTPServerBuilder { responder in arrivals.before(HTTP1Channel(responder: responder)) },
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
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
        self.arrivals = arrivals
    }

    /// The number of connections whose last request is not yet done with. A request of a client that has gone may be.
    package var connections: Int { arrivals.count }

    /// Closes the socket and all connections.
    package func stop() async {
        running.cancel()
        _ = await running.result
        arrivals.closeAll()
    }
}

extension BlockingExecutor {
    /// The threads on which every demo server of the process answers. They are separate threads, so that a process
    /// whose other tasks keep all threads of the concurrency library busy still answers at once.
    static let ofServers = BlockingExecutor(name: "demo server", threads: 2)
}
