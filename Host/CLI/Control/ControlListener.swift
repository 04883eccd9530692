import Glibc
import HTTPTypes
import HummingbirdCore
import Logging
import Model
import NIOCore
import NIOPosix
import Synchronization
import Threads

/// The task that accepts connections to the control socket and has their requests answered. Only processes of the
/// host's user and of root are heard (`SO_PEERCRED`, unix(7)).
final class ControlListener: Sendable {
    /// The largest number of connections at a time: 128, or an eighth of the open files that the process is allowed. A
    /// further one gets a refusal, and is closed at once.
    static let mostConnections = min(128, Int(clamping: ProcessSetup.mostOpenFiles / 8))
    /// The time after which a connection is closed on which no request is under way.
    static let idleTime: TimeAmount = .seconds(30)

    private let channel: NIOAsyncChannel<(any Channel)?, Never>
    private let http: HTTP1Channel
    private let logger: Logger
    private let open = Atomic(0)

    /// Begins to listen on a socket. The listener closes the socket's descriptor.
    /// - Parameter respond: answers a request. It is called on the threads that tasks share.
    init(
        _ descriptor: Int32, logger: Logger, answering respond: @escaping HTTPChannelHandler.Responder
    ) async throws(Failure) {
        let http = HTTP1Channel(
            responder: respond,
            configuration: .init(
                idleTimeout: Self.idleTime,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 50)))
        (self.http, self.logger) = (http, logger)
        do {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.control)
                // Nothing is read before ``answer(on:)``, which makes what reads.
                .childChannelOption(.autoRead, value: false)
                .bind(descriptor) { child in
                    PeerCredentials.of(child).map { peer in
                        if peer?.isTrusted ?? false { return child }
                        logger.warning("A process of the user \(peer?.uid ?? .max) may not use the control socket")
                        child.close(promise: nil)
                        return nil
                    }
                }
        } catch {
            throw Failure(.cannotCreate, "the control socket cannot be listened on: \(error)")
        }
    }

    /// Accepts no more connections. The requests under way are answered. Returns at once.
    func stop() { channel.channel.close(promise: nil) }

    /// Answers requests until the task is cancelled, or the listener was stopped and all requests are answered.
    func run() async {
        do {
            try await channel.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await case let connection? in connections {
                        guard open.load(ordering: .relaxed) < Self.mostConnections else {
                            Self.refuse(connection)
                            continue
                        }
                        open.add(1, ordering: .relaxed)
                        group.addTask { [self] in
                            await answer(on: connection)
                            open.subtract(1, ordering: .relaxed)
                        }
                    }
                }
            }
        } catch is CancellationError {
        } catch {
            logger.error("The control socket no longer answers: \(error)")
        }
    }

    /// Says that there are too many connections. The client may not have sent its request yet, and nothing of it is
    /// done.
    private static func refuse(_ connection: any Channel) {
        let body = JSONValue(error: ControlClient.busy).text
        let head = """
            HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: \
            \(body.utf8.count)\r\nConnection: close\r\n\r\n
            """
        connection.writeAndFlush(ByteBuffer(string: head + body)).whenComplete { _ in connection.close(promise: nil) }
    }

    /// Answers the requests of a connection until it is closed.
    private func answer(on connection: any Channel) async {
        let value: HTTP1Channel.Value
        do {
            value = try await connection.eventLoop.flatSubmit { [http] in
                http.setup(channel: connection, logger: Self.silent)
            }.get()
        } catch {
            return connection.close(promise: nil)
        }
        // If this fails, the connection is closed, which its handler sees.
        try? await connection.setOption(.autoRead, value: true).get()
        await http.handle(value: value, logger: Self.silent)
    }

    /// What a client does wrong is nothing for the host's log.
    private static let silent = Logger(label: "control") { _ in SwiftLogNoOpLogHandler() }
}

/// The user of the process at the other end of a connection (`struct ucred`, unix(7)).
private struct PeerCredentials: Sendable {
    var pid: pid_t = 0
    var uid: uid_t = .max
    var gid: gid_t = .max

    /// Whether the process may give the host commands: it is of the host's own user or root's.
    var isTrusted: Bool { uid == 0 || uid == geteuid() }

    /// Returns the credentials; nil if the connection is none on this machine.
    static func of(_ channel: any Channel) -> EventLoopFuture<PeerCredentials?> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        return options.unsafeGetSocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
            .map { (peer: PeerCredentials) in peer }
    }
}

extension MultiThreadedEventLoopGroup {
    /// The thread for connections to the control socket and from it.
    static let control = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}
