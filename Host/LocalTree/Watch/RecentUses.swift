public import Model
import Synchronization

/// The uses of copies by programs. Each use is reported after a short time, and a use that soon follows another use of
/// the same file is merged with it. The type does no I/O. `now` is of a clock that never jumps.
public struct RecentUses: Sendable {
    private struct Entry {
        /// The time at which the use is reported. After the report, the time from which a further use is reported at
        /// once.
        var due: Duration
        /// The time of the last use, if it was not reported yet.
        var time: Timestamp?
    }

    /// The time for which uses are gathered, so that the uses of many files are written together.
    public static let gathering = Duration.seconds(1)
    /// The time after a report within which further uses of the file are merged.
    public static let merging = Duration.seconds(5)

    private var entries: [ItemPath: Entry] = [:]

    /// Creates an empty collection.
    public init() {}

    /// Records that a file is being used.
    public mutating func note(_ path: ItemPath, _ time: Timestamp, now: Duration) {
        entries[path, default: Entry(due: now + Self.gathering)].time = time
    }

    /// Tells whether a use of the file would be merged with one that is already recorded.
    public func has(_ path: ItemPath) -> Bool { entries[path] != nil }

    /// Returns the time of the file's last use, if it was not reported yet.
    public func untold(_ path: ItemPath) -> Timestamp? { entries[path]?.time }

    /// The time of the next report; nil if there is nothing to report.
    public var next: Duration? { entries.values.lazy.filter { $0.time != nil }.map(\.due).min() }

    /// Removes and returns the uses that are to be reported now.
    public mutating func take(now: Duration) -> [ItemPath: Timestamp] {
        var taken: [ItemPath: Timestamp] = [:]
        for (path, entry) in entries where entry.due <= now {
            if let time = entry.time {
                taken[path] = time
                entries[path] = Entry(due: now + Self.merging)
            } else {
                entries[path] = nil
            }
        }
        return taken
    }
}

/// A collection of recent uses that several threads share.
public final class UseLog: Sendable {
    private let uses = Mutex(RecentUses())

    /// Creates an empty collection.
    public init() {}

    /// Reads or changes the uses, one caller at a time.
    public func with<T>(_ body: (inout sending RecentUses) -> sending T) -> sending T { uses.withLock(body) }
}
