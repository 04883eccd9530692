public import Model

/// The paths at which something changed and that are to be compared, each when it has kept still for a while. No I/O; times are
/// of a clock that never jumps.
///
/// A path stands for all below it. There are never many: what is too much is gathered in the folders above.
public struct DirtyPaths: Sendable {
    /// How a change was told.
    public enum Cause: Hashable, Sendable {
        /// Something came, went, or was closed after it was written.
        case done
        /// It is being written, or was begun: more is to come.
        case underWay
    }

    /// A path that is to be compared now.
    public struct Due: Hashable, Sendable {
        public var path: ItemPath
        /// How often it was compared in vain since it changed.
        public var tries: Int

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

    /// How long a path keeps still before it is looked at: programs save by writing another file and renaming it.
    public static let gathering = Duration.milliseconds(300)
    /// The same for a file that is being written and was not closed.
    public static let quiet = Duration.seconds(2)
    /// What does not keep still is looked at after this all the same.
    public static let mostGathering = Duration.seconds(2)
    public static let mostQuiet = Duration.seconds(30)
    /// How long what could not be compared waits; twice as long each time.
    public static let firstRetry = Duration.seconds(2)
    public static let lastRetry = Duration.seconds(60)
    /// So many paths at most are kept.
    public static let most = 4096

    private var entries: [ItemPath: Entry] = [:]

    public init() {}

    public var count: Int { entries.count }

    /// When the next path is due; nil if there is none.
    public var next: Duration? { entries.values.lazy.map(\.due).min() }

    /// Something changed.
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

    /// Anything may have changed.
    public mutating func markAll(now: Duration) {
        entries = [:]
        mark(.root, .done, now: now)
    }

    /// What was taken could not be compared yet.
    public mutating func retry(_ path: Due, now: Duration) {
        // It has changed again meanwhile.
        guard entries[path.path] == nil else { return }
        let wait = min(Self.firstRetry * (1 << min(path.tries, 10)), Self.lastRetry)
        entries[path.path] = Entry(since: now, due: now + wait, tries: path.tries + 1)
        if entries.count > Self.most { gather() }
    }

    /// The paths that are due, none of them below another.
    public mutating func take(now: Duration) -> [Due] {
        let due = entries.filter { $0.value.due <= now }
        for path in due.keys { entries[path] = nil }
        return due.filter { path, _ in !path.hasAncestor(where: { due[$0] != nil }) }
            .map { Due(path: $0.key, tries: $0.value.tries) }
    }

    /// Replaces the deepest paths by the folders that hold them until few enough are left.
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
    /// How many folders are above it: 0 for the root.
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
