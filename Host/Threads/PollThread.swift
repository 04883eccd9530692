import CLinux
import Glibc
import Synchronization

/// The thread that waits for sockets on which tasks wait. It never ends.
///
/// Nothing but ``PolledSocket`` uses it.
final class PollThread: Sendable {
    /// The thread of the process.
    /// - Throws: ``ThreadError`` if there is no thread or no descriptor. A later call tries again.
    static func shared() throws(ThreadError) -> PollThread {
        try started.withLock { thread throws(ThreadError) in
            if let thread { return thread }
            let new = try PollThread()
            thread = new
            return new
        }
    }

    private static let started = Mutex<PollThread?>(nil)

    /// The sockets by their tokens. A token is never used again, so what the system tells late of a socket that is gone is
    /// told to no other socket with the same descriptor.
    private let sockets = Mutex<(last: UInt64, byToken: [UInt64: WeakSocket])>((0, [:]))
    private let poll: Int32

    private struct WeakSocket: Sendable {
        weak let socket: PolledSocket?
    }

    private init() throws(ThreadError) {
        // A process with sockets has readers that may go at any time, also those of its output. Its writes fail then, and
        // it says so.
        signal(SIGPIPE, SIG_IGN)
        poll = linux_poll_create()
        guard poll >= 0 else { throw ThreadError(code: errno) }
        do throws(ThreadError) { _ = try SystemThread(name: "sockets", stackSize: 65_536) { [self] in run() } } catch {
            linux_poll_close(poll)
            throw error
        }
    }

    /// Has a socket told of what the system says.
    /// - Returns: What takes it out again.
    /// - Throws: ``ThreadError`` if the system refuses.
    func add(_ socket: PolledSocket) throws(ThreadError) -> UInt64 {
        let token = sockets.withLock { sockets in
            sockets.last += 1
            sockets.byToken[sockets.last] = WeakSocket(socket: socket)
            return sockets.last
        }
        guard linux_poll_add(poll, socket.descriptor, token) == 0 else {
            let code = errno
            sockets.withLock { _ = $0.byToken.removeValue(forKey: token) }
            throw ThreadError(code: code)
        }
        return token
    }

    func remove(_ token: UInt64, _ descriptor: Int32) {
        linux_poll_forget(poll, descriptor)
        sockets.withLock { _ = $0.byToken.removeValue(forKey: token) }
    }

    private func run() {
        var events = [linux_poll_event](repeating: linux_poll_event(), count: 64)
        while true {
            let count = linux_poll_wait(poll, &events, Int32(events.count), -1)
            for event in events.prefix(Int(count)) {
                sockets.withLock({ $0.byToken[event.token] })?.socket?.isReady(event.what)
            }
        }
    }
}
