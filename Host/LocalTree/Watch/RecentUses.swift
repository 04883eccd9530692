public import Model
import Synchronization

/// Which copies programs have used, each told once in a while: a use that follows another of the same file soon is merged with it.
/// No I/O; `now` is of a clock that never jumps.
public struct RecentUses: Sendable {
    private struct Entry {
        /// When it is told, or, once it was, from when on another use is told at once.
        var due: Duration
        /// When it was used last, if that was not told yet.
        var time: Timestamp?
    }

    /// How long uses are gathered, so that those of many files are written together.
    public static let gathering = Duration.seconds(1)
    /// Uses of one file that are told within this time are one.
    public static let merging = Duration.seconds(5)

    private var entries: [ItemPath: Entry] = [:]

    public init() {}

    /// A file is being used.
    public mutating func note(_ path: ItemPath, _ time: Timestamp, now: Duration) {
        entries[path, default: Entry(due: now + Self.gathering)].time = time
    }

    /// Whether a use of the file would be merged with one that is noted already.
    public func has(_ path: ItemPath) -> Bool { entries[path] != nil }

    /// When it was used last, if that was not told yet.
    public func untold(_ path: ItemPath) -> Timestamp? { entries[path]?.time }

    /// When there is something to tell; nil: nothing.
    public var next: Duration? { entries.values.lazy.filter { $0.time != nil }.map(\.due).min() }

    /// The uses that are to be told now.
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

/// The same, told from one thread to others.
public final class UseLog: Sendable {
    private let uses = Mutex(RecentUses())

    public init() {}

    /// Reads or changes what was noted, one caller at a time.
    public func with<T>(_ body: (inout sending RecentUses) -> sending T) -> sending T { uses.withLock(body) }
}
