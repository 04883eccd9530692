import CLinux
import Glibc
public import Model
import Synchronization
import Threads

/// A watcher of changes in the tree. The kernel watches every folder of the tree (`inotify(7)`), without following
/// symbolic links.
///
/// The watcher only reports where something changed, after the path has not changed for a moment. A comparison of tree
/// and rows finds the changes themselves. The owner of a watcher first calls ``walk()``, then compares everything, so
/// that no change in between is missed, and calls ``end()`` at last. All watchers of the process share the kernel's
/// queues (``WatchQueues``), and handle their events on the process's blocking threads. All functions may be called from
/// any task, and none blocks.
public final class TreeWatcher: Sendable {
    /// A piece of work. The pieces are done one after the other.
    enum Work: Sendable {
        case walk(CheckedContinuation<Void, Never>)
        case changes([WatchEvent])
        case uses([WatchEvent])
        /// Files that Larder had open and of whose uses all events have come.
        case closed([ItemPath: Int])
        case note([WatchEvent], CheckedContinuation<Void, Never>)
        case end(CheckedContinuation<Void, Never>)
    }

    struct Shared {
        var dirty = DirtyPaths()
        /// The time at which the owner calls again without being woken; nil if the owner waits to be woken.
        var armed: Duration?
        var limit: Failure?
        var areUsesMissed = false
        var work: [Work] = []
        /// The number of events in ``work``.
        var events = 0
        /// Whether a thread does the work.
        var isWorking = false
        var isEnded = false

        /// Sets the time if something is due before the owner calls again.
        /// - Returns: Whether something is due sooner.
        mutating func arm(_ next: Duration?) -> Bool {
            guard let next, armed.map({ next < $0 }) ?? true else { return false }
            armed = next
            return true
        }
    }

    let tree: Tree
    let monotonic: @Sendable () -> Duration
    let wake: @Sendable () -> Void
    let clock: @Sendable () -> Timestamp
    /// The log of programs' uses of copies; nil if uses are not watched.
    let uses: UseLog?
    /// The programs whose opens count.
    let readers: UseReaders
    /// The largest number of watched folders, whatever the kernel would allow.
    let most: Int
    let shared = Mutex(Shared())
    /// The watched folders, while a piece of work is done.
    let folders = Mutex(WatchedFolders())
    /// The kernel's queues that the watcher shares with others.
    let queues: WatchQueues
    let places = Mutex(Places())

    /// The watcher's places in the kernel's queues, and the error if the system grants no queue.
    struct Places {
        var changes: WatchQueues.Place?
        var error: Int32 = 0
        /// The place for opens and reads. The queue is another one since it fills up when every folder is read. A lost
        /// event of this queue is harmless, since an access time shows the use later.
        var uses: WatchQueues.Place?
    }

    /// Creates a watcher.
    /// - Parameters:
    ///   - uses: The log of programs' uses of copies; nil if uses are not watched.
    ///   - readers: The programs whose opens count.
    ///   - clock: The wall clock for the times of uses.
    ///   - monotonic: A clock that never jumps.
    ///   - wake: A function that is called when a path or a use is due sooner than ``next()`` has returned, when the
    ///     tree's root may be gone, and when the system grants no watches for uses. The function must return at once.
    /// - Throws: `.localIO` if the system has no pipe or thread for reading the kernel's queues. A lack of watches is no error: see
    ///   ``limit``.
    public convenience init(
        _ tree: Tree, uses: UseLog? = nil, readers: UseReaders = UseReaders(ignoring: []),
        clock: @escaping @Sendable () -> Timestamp = { .now() }, monotonic: @escaping @Sendable () -> Duration,
        wake: @escaping @Sendable () -> Void
    ) throws(Failure) {
        try self.init(
            tree, uses: uses, readers: readers, most: .max, clock: clock, monotonic: monotonic, wake: wake)
    }

    init(
        _ tree: Tree, uses: UseLog? = nil, readers: UseReaders = UseReaders(ignoring: []), most: Int,
        queues: WatchQueues = .shared,
        clock: @escaping @Sendable () -> Timestamp = { .now() }, monotonic: @escaping @Sendable () -> Duration,
        wake: @escaping @Sendable () -> Void
    ) throws(Failure) {
        (self.tree, self.uses, self.readers, self.most, self.queues) = (tree, uses, readers, most, queues)
        (self.clock, self.monotonic, self.wake) = (clock, monotonic, wake)
        var places = Places()
        places.changes = try queues.join(self, .changes)
        places.error = errno
        if uses != nil {
            do throws(Failure) { places.uses = try queues.join(self, .uses) } catch {
                if let place = places.changes { queues.leave(place, []) }
                throw error
            }
        }
        self.places.withLock { $0 = places }
        tree.ownOpens.setWatched(uses != nil)
    }

    /// Watches all existing folders. The function returns when the folders are watched, as far as the system allows;
    /// see ``limit``.
    public func walk() async {
        await withCheckedContinuation { continuation in send(.walk(continuation), or: continuation) }
    }

    /// Ends the watching. The function returns when no work is left.
    public func end() async {
        await withCheckedContinuation { continuation in send(.end(continuation), or: continuation) }
    }

    /// The reason why not all folders are watched; nil if all are watched.
    public var limit: Failure? { shared.withLock { $0.limit } }

    /// Whether the system grants no watches for uses. The next comparison then finds uses by access times.
    public var areUsesMissed: Bool { shared.withLock { $0.areUsesMissed } }

    /// Removes and returns the paths that are to be compared now. The owner gives a path that cannot be compared yet
    /// back with ``retry(_:)``.
    public func take() -> [DirtyPaths.Due] {
        let now = monotonic()
        return shared.withLock { $0.dirty.take(now: now) }
    }

    /// Returns the time until the next path or use is due; nil if the owner only waits to be woken.
    public func next() -> Duration? {
        let now = monotonic()
        return shared.withLock { shared in
            shared.armed = [shared.dirty.next, uses?.with { $0.next }].compactMap(\.self).min()
            return shared.armed.map { max(.zero, $0 - now) }
        }
    }

    /// Adds paths again that could not be compared yet.
    public func retry(_ paths: [DirtyPaths.Due]) {
        change { dirty, now in
            for path in paths { dirty.retry(path, now: now) }
        }
    }

    /// Makes everything be compared again.
    public func markAll() { change { $0.markAll(now: $1) } }

    /// Handles events as if they came from the kernel, after all events that the kernel has queued before. For tests.
    func note(_ events: [WatchEvent]) async {
        await withCheckedContinuation { continuation in
            queues.after { [self] in send(.note(events, continuation), or: continuation) }
        }
    }

    func change(_ body: (inout DirtyPaths, Duration) -> Void) {
        let now = monotonic()
        let isSooner = shared.withLock { shared in
            body(&shared.dirty, now)
            return shared.arm(shared.dirty.next)
        }
        if isSooner { wake() }
    }

    /// Records that programs use these copies.
    func note(uses paths: Set<ItemPath>) {
        guard let uses, !paths.isEmpty else { return }
        let (time, now) = (clock(), monotonic())
        let next = uses.with { uses in
            for path in paths { uses.note(path, time, now: now) }
            return uses.next
        }
        if shared.withLock({ $0.arm(next) }) { wake() }
    }

    private func send(_ work: Work, or continuation: CheckedContinuation<Void, Never>) {
        let isAccepted = add(work) { shared in
            guard !shared.isEnded else { return false }
            if case .end = work { shared.isEnded = true }
            return true
        }
        if !isAccepted { continuation.resume() }
    }
}
