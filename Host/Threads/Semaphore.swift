import CLinux
import Glibc

/// A counting semaphore of the C library (`sem_overview(7)`), for threads that may block.
///
/// The conformance to `Sendable` is unchecked for this reason: the memory is allocated once, never moves, and is freed
/// when nobody holds the object any more. POSIX lets every thread post to the semaphore and wait for it.
public final class Semaphore: @unchecked Sendable {
    private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Creates a semaphore with the value zero.
    public init() { sem_init(raw, 0, 0) }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    /// Lets one wait end. May be called on any thread, and never blocks.
    public func signal() { sem_post(raw) }

    /// Blocks until there is a signal that no other wait has taken, and takes the signal.
    public func wait() {
        while sem_wait(raw) != 0 {}
    }

    /// Takes a signal if there is one, without waiting.
    /// - Returns: Whether there was one.
    func take() -> Bool { sem_trywait(raw) == 0 }

    /// Blocks like ``wait()``, but not longer than a time.
    /// - Returns: Whether there was a signal.
    func wait(atMost time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while true {
            let left = max(.zero, end - .now)
            if linux_sem_wait(raw, Int64(left / .nanoseconds(1))) == 0 { return true }
            if errno != EINTR { return false }
        }
    }
}
