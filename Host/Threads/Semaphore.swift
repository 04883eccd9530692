import Glibc

/// A counting semaphore of the C library (`sem_overview(7)`), for threads that may block.
///
/// Unchecked: the memory is allocated once, never moves, and is freed when nobody holds the object; POSIX lets every thread
/// post to it and wait for it.
public final class Semaphore: @unchecked Sendable {
    private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Begins at zero.
    public init() { sem_init(raw, 0, 0) }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    /// Lets one wait end. It may be called on any thread, and never blocks.
    public func signal() { sem_post(raw) }

    /// Blocks until there is a signal that nobody else has taken, and takes it.
    public func wait() {
        while sem_wait(raw) != 0 {}
    }
}
