import CLinux
import Synchronization

/// The memory that was freed and that malloc(3) keeps for later, and the pages of the program that are not used now.
///
/// malloc gives back by itself what is free at the end of its heaps. What is free between used blocks may be several
/// times as much after many accounts were opened.
///
///     memory.note(at: clock.monotonic())
///     // Later, whenever something looks after the account:
///     memory.giveBack(at: clock.monotonic())
public final class FreedMemory: Sendable {
    /// The time from the first note on in which more may be freed.
    static let pause = Duration.seconds(20)

    private let since = Mutex<Duration?>(nil)

    /// Creates a value for a process in which nothing was freed.
    public init() {}

    /// Notes that an account has come to rest, and has freed memory.
    /// - Parameter now: The time by a monotonic clock.
    public func note(at now: Duration) { since.withLock { $0 = $0 ?? now } }

    /// Gives memory back to the system, on a thread that may block, if ``pause`` has passed since the first note. Returns
    /// at once.
    /// - Parameter now: The time by a monotonic clock.
    public func giveBack(at now: Duration) {
        guard takeIfDue(at: now) else { return }
        runBlockingLater {
            linux_give_back_memory()
            ProgramPages.giveBack()
        }
    }

    /// Tells whether ``pause`` has passed since the first note, and forgets the notes then.
    func takeIfDue(at now: Duration) -> Bool {
        since.withLock { since in
            guard let first = since, now - first >= Self.pause else { return false }
            since = nil
            return true
        }
    }
}
