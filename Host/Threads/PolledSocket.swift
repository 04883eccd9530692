import CLinux
import Glibc

/// A socket, or the reading end of a pipe, on which tasks wait without a thread. It owns its descriptor, which is closed
/// with the last reference.
///
/// One task reads and one writes at a time. What is written is not buffered: a task that writes waits until the other end
/// has made room.
///
/// ```swift
/// let socket = try PolledSocket(descriptor)
/// try await socket.write(Array("ping\n".utf8))
/// let answer = try await socket.read(atMost: 512)
/// ```
public final class PolledSocket: Sendable {
    private struct State: Sendable {
        var mayRead = true
        var mayWrite = true
        /// Whether the socket at the other end is closed.
        var isGone = false
        /// Whether ``end()`` was called.
        var isEnded = false
    }

    /// The descriptor.
    public let descriptor: Int32
    private let state = Monitor(State())
    private let token: Monitor<UInt64?>

    /// Takes over a descriptor. It must not block. If this fails, it is closed.
    /// - Throws: ``ThreadError`` if the system lacks a thread, a descriptor or memory for it.
    public init(_ descriptor: Int32) throws(ThreadError) {
        self.descriptor = descriptor
        token = Monitor(nil)
        let token = try PollThread.shared().add(self)
        self.token.change { $0 = token }
    }

    deinit {
        if let token = token.with(\.self) { try? PollThread.shared().remove(token, descriptor) }
        close(descriptor)
    }

    /// Called on the poll thread.
    func isReady(_ what: UInt32) {
        state.change { state in
            if what & UInt32(LINUX_POLL_IN) != 0 { state.mayRead = true }
            if what & UInt32(LINUX_POLL_OUT) != 0 { state.mayWrite = true }
            if what & UInt32(LINUX_POLL_GONE) != 0 {
                (state.mayRead, state.mayWrite, state.isGone) = (true, true, true)
            }
        }
    }

    /// Reads what is there, and waits for it if that is nothing.
    /// - Parameter most: The largest number of bytes.
    /// - Returns: The bytes; none at the end.
    /// - Throws: ``SocketError``; `CancellationError` if the task is cancelled while it waits.
    public func read(atMost most: Int) async throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = try await attempt(\.mayRead) { [descriptor] in
            bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        }
        bytes.removeLast(most - count)
        return bytes
    }

    /// Writes all bytes.
    /// - Throws: ``SocketError``; `CancellationError` if the task is cancelled while it waits.
    public func write(_ bytes: [UInt8]) async throws {
        var done = 0
        while done < bytes.count {
            done += try await attempt(\.mayWrite) { [descriptor] in
                bytes[done...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
        }
    }

    /// Accepts a connection, and waits for one.
    /// - Returns: Its descriptor, which does not block and belongs to the caller.
    /// - Throws: ``SocketError``; `CancellationError` if the task is cancelled while it waits.
    public func accept() async throws -> Int32 {
        Int32(
            try await attempt(\.mayRead) { [descriptor] in
                Int(linux_accept(descriptor))
            })
    }

    /// Waits until the socket at the other end is closed. A socket that is only shut down for writing is not.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func untilGone() async throws(CancellationError) {
        try await state.waitUnlessCancelled { $0.isGone || $0.isEnded }
    }

    /// Tells the other end that nothing more is written.
    public func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions, and with them what tasks wait for. A socket that listens takes no more connections. May be
    /// called on any thread.
    public func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.change { state in (state.mayRead, state.mayWrite, state.isEnded) = (true, true, true) }
    }

    /// Makes a call of the system that does not block, again and again until it need not wait.
    private func attempt(
        _ isReady: any WritableKeyPath<State, Bool> & Sendable, _ call: () -> Int
    ) async throws -> Int {
        while true {
            // What becomes ready from here on sets it again.
            let isEnded = state.change { state in
                state[keyPath: isReady] = state.isEnded
                return state.isEnded
            }
            let result = call()
            if result >= 0 { return result }
            switch errno {
            case EINTR: continue
            // The system does not say of a socket that listens that it was ended.
            case EAGAIN where isEnded: throw SocketError(code: EINVAL)
            case EAGAIN: try await state.waitUnlessCancelled { $0[keyPath: isReady] }
            case let code: throw SocketError(code: code)
            }
        }
    }
}

/// The failure of a call on a socket.
public struct SocketError: Error, CustomStringConvertible {
    /// The error code, as in `errno`.
    public var code: Int32

    /// - Parameter code: The error code, as in `errno`.
    public init(code: Int32) { self.code = code }

    /// The failure in words.
    public var description: String { String(cString: strerror(code)) }
}
