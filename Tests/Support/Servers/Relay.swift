import Foundation
import Glibc
import Synchronization

/// A relay on 127.0.0.1 between the program under test and a server. It can run a body at a chosen moment of what passes,
/// such as one that kills the program.
public final class Relay: Sendable {
    /// A moment in what passes.
    public struct Moment: Sendable {
        /// The piece at which the moment is, counted from 1. A piece is what is read at once, in either direction.
        public var piece: Int
        /// Whether the piece is passed on before. If not, it is lost, and its connection is closed.
        public var isAfter: Bool
        /// The time since the piece was passed on, in microseconds.
        public var delay: UInt32

        public init(piece: Int, isAfter: Bool, delay: UInt32) {
            (self.piece, self.isAfter, self.delay) = (piece, isAfter, delay)
        }
    }

    private struct State {
        var sockets: Set<Int32> = []
        var isStopped = false
        var moment: Moment?
        var act: (@Sendable () -> Void)?
    }

    /// The port on which the relay listens.
    public let port: UInt16
    private let server: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    /// Runs a relay while `body` runs.
    /// - Parameter server: the server's port.
    public static func running<Result>(
        to server: UInt16, isolation: isolated (any Actor)? = #isolation, _ body: (Relay) async throws -> Result
    ) async throws -> Result {
        let relay = try Relay(to: server)
        defer { relay.stop() }
        return try await body(relay)
    }

    private init(to server: UInt16) throws {
        self.server = server
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw SetupError(call: "bind", path: "127.0.0.1") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Has a body run once at a moment, which counts from now. It replaces the body that was set before.
    public func at(_ moment: Moment, _ act: @escaping @Sendable () -> Void) {
        state.withLock { ($0.moment, $0.act) = (moment, act) }
    }

    /// Forgets the body that was set.
    public func disarm() { state.withLock { ($0.moment, $0.act) = (nil, nil) } }

    private func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        // Ends the reads of connections. Their own threads close them.
        state.withLock { state in
            state.isStopped = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func acceptAll() {
        defer { close(listener) }
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            let onward = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = Self.loopback(port: server)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(onward, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            let isWanted = state.withLock { state in
                guard isConnected, !state.isStopped else { return false }
                state.sockets.formUnion([client, onward])
                return true
            }
            guard isWanted else {
                close(client)
                close(onward)
                continue
            }
            // The directions end separately; the second closes both sockets.
            let ended = Counter()
            for (from, to) in [(client, onward), (onward, client)] {
                Thread.detachNewThread { [self] in
                    pass(from, to)
                    guard ended.add() == 2 else { return }
                    state.withLock { state in
                        state.sockets.subtract([client, onward])
                        close(client)
                        close(onward)
                    }
                }
            }
        }
    }

    private func pass(_ from: Int32, _ to: Int32) {
        defer { shutdown(to, Int32(SHUT_WR)) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let due = takeDue()
            if let (moment, act) = due, !moment.isAfter {
                act()
                for socket in [from, to] { shutdown(socket, Int32(SHUT_RDWR)) }
                return
            }
            guard Self.send(buffer[..<count], to: to) else {
                shutdown(from, Int32(SHUT_RDWR))
                due?.act()
                return
            }
            if let (moment, act) = due {
                usleep(moment.delay)
                act()
            }
        }
    }

    /// Counts a piece.
    /// - Returns: the body that is to run at this piece; nil at others.
    private func takeDue() -> (moment: Moment, act: @Sendable () -> Void)? {
        state.withLock { state in
            guard var moment = state.moment, let act = state.act else { return nil }
            moment.piece -= 1
            guard moment.piece <= 0 else {
                state.moment = moment
                return nil
            }
            (state.moment, state.act) = (nil, nil)
            return (moment, act)
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
