import CLinux
import Glibc
import Synchronization
import Threads

/// A server's socket on 127.0.0.1, and the task that answers its requests.
package final class Listener: Sendable {
    /// A socket that cannot listen.
    package struct StartError: Error, CustomStringConvertible {
        let port: Int
        /// The error code, as in `errno`.
        let code: Int32

        package var description: String {
            "127.0.0.1:\(port) cannot be listened at: \(String(cString: strerror(code)))"
        }
    }

    package let port: Int
    private let socket: PolledSocket
    private let running: Task<Void, Never>
    private let open: OpenConnections

    private final class OpenConnections: Sendable {
        let count = Atomic(0)
    }

    /// Starts listening.
    /// - Parameters:
    ///   - answering: The part that answers the requests.
    ///   - site: The user and the paths of the server.
    ///   - port: The port; 0 lets the system choose.
    /// - Throws: ``StartError``.
    package init(answering: any Answering, as site: Site, port: Int = 0) throws(StartError) {
        let socket: PolledSocket
        do throws(SocketError) {
            (socket, self.port) = try Self.listen(at: port)
        } catch {
            throw StartError(port: port, code: error.code)
        }
        let (responder, open) = (Responder(site: site, answering: answering), OpenConnections())
        (self.socket, self.open) = (socket, open)
        running = Task(executorPreference: BlockingExecutor.ofServers) {
            await withDiscardingTaskGroup { group in
                while let client = await Self.next(socket) {
                    open.count.add(1, ordering: .relaxed)
                    group.addTask {
                        await withTaskCancellationHandler {
                            await responder.serve(client)
                        } onCancel: {
                            client.end()
                        }
                        open.count.subtract(1, ordering: .relaxed)
                    }
                }
                group.cancelAll()
            }
        }
    }

    /// The number of connections whose last request is not yet done with. A request of a client that has gone may be.
    package var connections: Int { open.count.load(ordering: .relaxed) }

    /// Closes the socket and all connections.
    package func stop() async {
        running.cancel()
        socket.end()
        await running.value
    }

    private static func listen(at port: Int) throws(SocketError) -> (PolledSocket, port: Int) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw SocketError(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        set(SO_REUSEADDR, of: SOL_SOCKET, descriptor)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(descriptor, address, size) == 0 && Glibc.listen(descriptor, 1_024) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else {
            let code = errno
            close(descriptor)
            throw SocketError(code: code)
        }
        do throws(ThreadError) {
            return (try PolledSocket(descriptor), Int(UInt16(bigEndian: address.sin_port)))
        } catch { throw SocketError(code: error.code) }
    }

    /// Waits for a client.
    /// - Returns: Its connection; nil if no more are accepted.
    private static func next(_ socket: PolledSocket) async -> PolledSocket? {
        while !Task.isCancelled {
            do {
                let client = try await socket.accept()
                // An answer that goes out in several packets waits for no sign of the client.
                set(Int32(TCP_NODELAY), of: Int32(IPPROTO_TCP), client)
                if let client = try? PolledSocket(client) { return client }
            } catch let error as SocketError where [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(error.code) {
                try? await Task.sleep(for: .milliseconds(100))
            } catch let error as SocketError where error.code == ECONNABORTED {
                continue
            } catch {
                return nil
            }
        }
        return nil
    }

    private static func set(_ option: Int32, of level: Int32, _ descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension BlockingExecutor {
    /// The threads on which every demo server of the process answers. They are separate threads, so that a process
    /// whose other tasks keep all threads of the concurrency library busy still answers at once.
    static let ofServers = BlockingExecutor(name: "demo server", threads: 2)
}
