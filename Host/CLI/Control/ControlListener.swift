import CLinux
import Glibc
import Logging
import Model
import Synchronization
import Threads

/// The task that accepts connections to the control socket and has their requests answered. Only processes of the
/// host's user and of root are heard (`SO_PEERCRED`, unix(7)).
final class ControlListener: Sendable {
    /// A function that answers a request, or says why it cannot be read, on its connection.
    typealias Responder = @Sendable (Result<ControlMessage, Failure>, ControlConnection) async throws -> Void

    /// The largest number of connections at a time: 128, or an eighth of the open files that the process is allowed. A
    /// further one gets a refusal.
    static let mostConnections = min(128, Int(clamping: ProcessSetup.mostOpenFiles / 8))
    /// The largest number of connections at a time with an answer that goes on for long, beside the others: 1,024, or a
    /// quarter of the open files that the process is allowed.
    static let mostStreams = min(1_024, Int(clamping: ProcessSetup.mostOpenFiles / 4))
    /// The largest number of refused connections at a time whose clients may take notice of the refusal before it ends.
    /// A further one is closed at once.
    private static let mostRefused = 16
    /// The time within which a client sends its request, and within which it takes notice of the end of the answer.
    static let idleTime = Duration.seconds(30)
    /// The time between two tries to accept a connection where the system lacks something for it.
    private static let pause = Duration.milliseconds(100)

    private let socket: PolledSocket
    private let most: Int
    private let respond: Responder
    private let logger: Logger
    private let clock: HostClock
    private let open = Atomic(0)
    private let streams = Atomic(0)
    private let refused = Atomic(0)
    private let isStopped = Atomic(false)

    /// Begins to listen on a socket. The listener closes the socket's descriptor.
    /// - Parameters:
    ///   - most: the largest number of connections.
    ///   - respond: answers a request. It is called on the threads that tasks share.
    init(
        _ descriptor: Int32, most: Int = mostConnections, logger: Logger, clock: HostClock,
        answering respond: @escaping Responder
    ) throws(Failure) {
        do throws(ThreadError) { socket = try PolledSocket(descriptor) } catch {
            throw Failure(.cannotCreate, "the control socket cannot be listened on: \(errorText(error.code))")
        }
        (self.most, self.respond, self.logger, self.clock) = (most, respond, logger, clock)
    }

    /// Accepts no more connections. The requests under way are answered. Returns at once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        socket.end()
    }

    /// Answers requests until the task is cancelled, or the listener was stopped and all requests are answered.
    func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                while let descriptor = await next() {
                    guard isHeard(descriptor) else { continue }
                    let isFull = open.load(ordering: .relaxed) >= most
                    if isFull, refused.load(ordering: .relaxed) >= Self.mostRefused {
                        // The client may lose the answer: that is so only if it sends its request after this.
                        _ = Self.refusal.withUnsafeBytes {
                            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        }
                        close(descriptor)
                        continue
                    }
                    guard let connection = try? PolledSocket(descriptor) else { continue }
                    if isFull {
                        refused.add(1, ordering: .relaxed)
                        group.addTask { [self] in
                            await refuse(connection)
                            refused.subtract(1, ordering: .relaxed)
                        }
                    } else {
                        open.add(1, ordering: .relaxed)
                        group.addTask { [self] in await serve(connection) }
                    }
                }
                dropWaiting()
            }
        } onCancel: {
            stop()
        }
    }

    /// Waits for a connection.
    /// - Returns: its descriptor; nil if no more are accepted.
    private func next() async -> Int32? {
        while !isStopped.load(ordering: .acquiring) {
            do {
                return try await socket.accept()
            } catch let error as SocketError {
                switch error.code {
                case ECONNABORTED: continue
                case EMFILE, ENFILE, ENOMEM, ENOBUFS: try? await clock.sleep(Self.pause)
                default:
                    if !isStopped.load(ordering: .acquiring) {
                        logger.error("The control socket no longer answers: \(error)")
                    }
                    return nil
                }
            } catch {
                return nil
            }
        }
        return nil
    }

    /// Closes the connections that came too late to be accepted. Their clients try again, at the next socket.
    private func dropWaiting() {
        while true {
            let descriptor = linux_accept(socket.descriptor)
            guard descriptor >= 0 else { return }
            close(descriptor)
        }
    }

    /// Whether a connection's client may use the socket. The connection is closed if it may not.
    private func isHeard(_ descriptor: Int32) -> Bool {
        let user = linux_peer_user(descriptor)
        guard user == 0 || user == geteuid() else {
            logger.warning("A process of the user \(user) may not use the control socket")
            close(descriptor)
            return false
        }
        return true
    }

    /// The answer to a connection too many.
    private static let refusal = ControlConnection.answer(
        "503 Service Unavailable", Array(JSONValue(error: ControlClient.busy).text.utf8))

    /// Says that there are too many connections. The client may not have sent its request yet, and nothing of it is
    /// done.
    private func refuse(_ socket: PolledSocket) async {
        await inTime(socket) {
            do { try await socket.write(Self.refusal) } catch { return }
            await ControlConnection(socket).finish()
        }
    }

    /// Answers the request of a connection, and closes it.
    private func serve(_ socket: PolledSocket) async {
        let place = Place()
        let connection = ControlConnection(socket) { [self] in
            guard streams.add(1, ordering: .relaxed).oldValue < Self.mostStreams else {
                streams.subtract(1, ordering: .relaxed)
                return false
            }
            place.isStream.store(true, ordering: .relaxed)
            open.subtract(1, ordering: .relaxed)
            return true
        }
        defer {
            if place.isStream.load(ordering: .relaxed) {
                streams.subtract(1, ordering: .relaxed)
            } else {
                open.subtract(1, ordering: .relaxed)
            }
        }
        await withTaskCancellationHandler {
            guard let read = await inTime(socket, { await connection.read() }) else { return }
            do { try await respond(read, connection) } catch { return }
            await inTime(socket) { await connection.finish() }
        } onCancel: {
            socket.end()
        }
    }

    /// Where a connection counts.
    private final class Place: Sendable {
        let isStream = Atomic(false)
    }

    /// Carries something out, and ends the connection if that takes too long.
    @discardableResult
    private func inTime<Value>(_ socket: PolledSocket, _ body: () async -> Value) async -> Value {
        let limit = Task { [clock] in
            try await clock.sleep(Self.idleTime)
            socket.end()
        }
        defer { limit.cancel() }
        return await body()
    }
}
