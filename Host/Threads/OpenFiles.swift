import Synchronization

/// The descriptors that the process may still open, counted now and then.
public enum OpenFiles {
    private struct Count {
        var at: SuspendingClock.Instant?
        var areMany = true
    }

    private static let count = Mutex(Count())
    /// The time for which a count is believed.
    private static let validity = Duration.milliseconds(20)

    /// Whether at least half of the descriptors that the process is allowed are left: enough to use more of them for speed
    /// alone.
    public static var areMany: Bool {
        let now = SuspendingClock.now
        return count.withLock { count in
            if count.at.map({ now - $0 > validity }) ?? true {
                let left = ProcessSetup.openFilesLeft
                (count.at, count.areMany) = (now, left >= Int(clamping: ProcessSetup.mostOpenFiles / 2))
            }
            return count.areMany
        }
    }
}
