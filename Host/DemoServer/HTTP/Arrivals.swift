import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The connections of a listener that have arrived and that no task has taken yet.
///
/// A server that stops drops them. A connection that has its HTTP handlers by then ends the process: they must not be
/// freed before a task has used them. A connection therefore gets its handlers from the task that takes it.
final class Arrivals: Sendable {
    private let connections = Mutex<[ObjectIdentifier: any Channel]>([:])
    private let taken = Mutex(0)

    /// The number of connections that have arrived, and whose last request is not yet done with.
    var count: Int { connections.withLock(\.count) + taken.withLock { $0 } }

    /// Returns a part that passes each connection to `base` when a task has taken the connection.
    func before(_ base: HTTP1Channel) -> any ServerChildChannel { Gate(base: base, arrivals: self) }

    /// Closes the connections that no task has taken.
    func closeAll() {
        let left = connections.withLock { connections in
            defer { connections = [:] }
            return connections.values
        }
        for connection in left { connection.close(promise: nil) }
    }

    private struct Gate: ServerChildChannel {
        struct Value: ServerChildChannelValue {
            let channel: any Channel
        }

        let base: HTTP1Channel
        let arrivals: Arrivals

        func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
            arrivals.connections.withLock { $0[ObjectIdentifier(channel)] = channel }
            // Nothing is read before there are handlers.
            return channel.setOption(.autoRead, value: false).map { Value(channel: channel) }
        }

        func handle(value: Value, logger: Logger) async {
            let channel = value.channel
            arrivals.taken.withLock { $0 += 1 }
            defer { arrivals.taken.withLock { $0 -= 1 } }
            arrivals.connections.withLock { $0[ObjectIdentifier(channel)] = nil }
            let connection: HTTP1Channel.Value
            do {
                connection = try await channel.eventLoop.flatSubmit { [base] in
                    base.setup(channel: channel, logger: logger)
                }.get()
            } catch {
                return channel.close(promise: nil)
            }
            // If this fails, the connection is closed, which its handlers see.
            try? await channel.setOption(.autoRead, value: true).get()
            await base.handle(value: connection, logger: logger)
        }
    }
}
