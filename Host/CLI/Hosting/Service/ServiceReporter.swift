import Glibc
import Logging
import Model
import Threads

/// A reporter that tells the service manager how the host is doing.
final class ServiceReporter: Sendable {
    private let manager: ServiceManager
    private let clock: HostClock
    private let logger: Logger
    private let state: @Sendable () -> ServiceState
    private let proof: @Sendable () async -> Void
    private let changed = Signal()

    /// Creates a reporter.
    /// - Parameters:
    ///   - state: returns the host's present state.
    ///   - proof: returns when the host's own threads have done something. No message goes out before it returns, and
    ///     so no sign of life of a host that hangs.
    init(
        _ manager: ServiceManager, clock: HostClock, logger: Logger, state: @escaping @Sendable () -> ServiceState,
        proof: @escaping @Sendable () async -> Void
    ) {
        (self.manager, self.clock, self.logger, self.state, self.proof) = (manager, clock, logger, state, proof)
    }

    /// Has the reporter check at once what there is to tell. May be called on any thread.
    func check() { changed.send() }

    /// Tells the manager what changes, until the task is cancelled, and then once more.
    func run() async {
        var notices = ServiceNotices(watchdog: manager.watchdog)
        var problem: Int32?
        while true {
            let isLast = Task.isCancelled
            await proof()
            var pause: Duration?
            var isSent = false
            if let (message, after) = notices.next(state(), at: clock.monotonic()) {
                let error = manager.socket.send(message)
                if let error {
                    // What was not sent is due again at the next check.
                    pause = error == EAGAIN ? .milliseconds(100) : ServiceNotices.pauses.longest
                    if error != EAGAIN, error != problem {
                        logger.warning("The service manager cannot be told how the host is doing: \(errorText(error))")
                    }
                } else {
                    (notices, isSent) = (after, true)
                }
                problem = error
            }
            // A message may leave something to tell.
            if isSent { continue }
            if isLast { return }
            await wait(pause ?? notices.pause(at: clock.monotonic()))
        }
    }

    /// Waits for a time, or until a check is requested or the task is cancelled.
    private func wait(_ pause: Duration) async {
        await withTaskGroup { [clock, changed] group in
            group.addTask {
                // A cancelled task ends both waits.
                do { try await clock.sleep(pause) } catch {}
            }
            group.addTask { await changed.wait() }
            await group.next()
            group.cancelAll()
        }
    }
}
