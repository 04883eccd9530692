public import Model

/// The paths at which something changed and that are still to be compared. Each path is due when it has not changed for
/// a while. The type does no I/O. Times are of a clock that never jumps.
///
/// A path stands for everything below it. The number of paths is limited: further paths are replaced by the folders
/// above them.
public struct DirtyPaths: Sendable {
    /// The kind of change.
    public enum Cause: Hashable, Sendable {
        /// An entry appeared, disappeared, or was closed after a program wrote it.
        case done
        /// A program is writing or has created an entry. More changes are to come.
        case underWay
    }

    /// A path that is to be compared now.
    public struct Due: Hashable, Sendable {
        /// The path.
        public var path: ItemPath
        /// The number of failed attempts to compare the path since it changed.
        public var tries: Int

        /// Creates a due path.
        public init(path: ItemPath, tries: Int = 0) {
            self.path = path
            self.tries = tries
        }
    }

    private struct Entry {
        var since: Duration
        var due: Duration
        var tries = 0
    }

    /// The time for which a path must not change before it is compared. Programs save a file by writing another file
    /// and renaming it.
    public static let gathering = Duration.milliseconds(300)
    /// The same time for a file that is being written and was not closed.
    public static let quiet = Duration.seconds(2)
    /// The longest delay for a path that keeps changing.
    public static let mostGathering = Duration.seconds(2)
    /// The longest delay for a file that is being written and was not closed.
    public static let mostQuiet = Duration.seconds(30)
    /// The first delay after a failed attempt to compare a path. The delay doubles with each attempt.
    public static let firstRetry = Duration.seconds(2)
    /// The longest delay after a failed attempt.
    public static let lastRetry = Duration.seconds(60)
    /// The largest number of paths.
    public static let most = 4096

    private var entries: [ItemPath: Entry] = [:]

    /// Creates an empty set of paths.
    public init() {}

    /// The number of paths.
    public var count: Int { entries.count }

    /// The time at which the next path is due; nil if there is none.
    public var next: Duration? { entries.values.lazy.map(\.due).min() }

    /// Adds a path at which something changed.
    public mutating func mark(_ path: ItemPath, _ cause: Cause, now: Duration) {
        let since = entries[path].flatMap { $0.tries == 0 ? $0.since : nil } ?? now
        let due =
            switch cause {
            case .done: min(now + Self.gathering, since + Self.mostGathering)
            case .underWay: min(now + Self.quiet, since + Self.mostQuiet)
            }
        entries[path] = Entry(since: since, due: max(now, due))
        if entries.count > Self.most { gather() }
    }

    /// Replaces all paths by the root, since anything may have changed.
    public mutating func markAll(now: Duration) {
        entries = [:]
        mark(.root, .done, now: now)
    }

    /// Adds a path again that was taken and could not be compared yet.
    public mutating func retry(_ path: Due, now: Duration) {
        // The path has changed again meanwhile.
        guard entries[path.path] == nil else { return }
        let wait = min(Self.firstRetry * (1 << min(path.tries, 10)), Self.lastRetry)
        entries[path.path] = Entry(since: now, due: now + wait, tries: path.tries + 1)
        if entries.count > Self.most { gather() }
    }

    /// Removes and returns the paths that are due. No returned path lies below another.
    public mutating func take(now: Duration) -> [Due] {
        let due = entries.filter { $0.value.due <= now }
        for path in due.keys { entries[path] = nil }
        return due.filter { path, _ in !path.hasAncestor(where: { due[$0] != nil }) }
            .map { Due(path: $0.key, tries: $0.value.tries) }
    }

    /// Replaces the deepest paths by their folders until few enough paths are left.
    private mutating func gather() {
        while entries.count > Self.most / 2, let deepest = entries.keys.lazy.map(\.depth).max(), deepest > 0 {
            for (path, entry) in entries where path.depth == deepest {
                entries[path] = nil
                let above = entries[path.parent] ?? entry
                entries[path.parent] = Entry(
                    since: min(above.since, entry.since), due: max(above.due, entry.due),
                    tries: min(above.tries, entry.tries))
            }
        }
    }
}

extension ItemPath {
    /// The number of folders above the path: 0 for the root.
    fileprivate var depth: Int { isRoot ? 0 : text.utf8.count { $0 == UInt8(ascii: "/") } }

    fileprivate func hasAncestor(where isMeant: (ItemPath) -> Bool) -> Bool {
        var path = self
        while !path.isRoot {
            path = path.parent
            if isMeant(path) { return true }
        }
        return false
    }
}
