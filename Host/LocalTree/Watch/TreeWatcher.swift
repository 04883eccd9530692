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
/// that no change in between is missed, and calls ``end()`` at last. The watcher has a thread of its own. All functions
/// may be called from any task, and none blocks.
public final class TreeWatcher: Sendable {
    enum Command: Sendable {
        case walk(CheckedContinuation<Void, Never>)
        case events([WatchEvent], CheckedContinuation<Void, Never>)
        case end(CheckedContinuation<Void, Never>)
    }

    struct Shared {
        var dirty = DirtyPaths()
        /// The time at which the owner calls again without being woken; nil if the owner waits to be woken.
        var armed: Duration?
        var limit: Failure?
        var areUsesMissed = false
        var commands: [Command] = []
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
    /// The queue of changes; below 0 if the system grants none.
    let inotify: Descriptor
    let inotifyError: Int32
    /// The queue of opens and reads. It is separate since it fills up when every folder is read. A lost event of this
    /// queue is harmless, since an access time shows the use later. Below 0 if the system grants none.
    let useEvents: Descriptor
    /// The ends of a pipe. A byte written into the pipe wakes the thread.
    let wakeUpStart: Descriptor
    let wakeUpEnd: Descriptor

    /// Creates a watcher and starts its thread.
    /// - Parameters:
    ///   - uses: The log of programs' uses of copies; nil if uses are not watched.
    ///   - readers: The programs whose opens count.
    ///   - clock: The wall clock for the times of uses.
    ///   - monotonic: A clock that never jumps.
    ///   - wake: A function that is called when a path or a use is due sooner than ``next()`` has returned, when the
    ///     tree's root may be gone, and when the system grants no watches for uses. The function must return at once.
    /// - Throws: `.localIO` if the system has no pipe or thread for the watcher. A lack of watches is no error: see
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
        clock: @escaping @Sendable () -> Timestamp = { .now() }, monotonic: @escaping @Sendable () -> Duration,
        wake: @escaping @Sendable () -> Void
    ) throws(Failure) {
        (self.tree, self.uses, self.readers, self.most) = (tree, uses, readers, most)
        (self.clock, self.monotonic, self.wake) = (clock, monotonic, wake)
        useEvents = Descriptor(uses == nil ? -1 : inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
        inotify = Descriptor(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
        inotifyError = errno
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { throw .system("watching \(tree.root)", errno) }
        wakeUpEnd = Descriptor(ends[0])
        wakeUpStart = Descriptor(ends[1])
        do throws(ThreadError) { _ = try SystemThread(name: "tree watcher") { [self] in work() } } catch {
            throw .system("making a thread to watch \(tree.root)", error.code)
        }
        tree.ownOpens.setWatched(uses != nil)
    }

    /// Watches all existing folders. The function returns when the folders are watched, as far as the system allows;
    /// see ``limit``.
    public func walk() async {
        await withCheckedContinuation { continuation in send(.walk(continuation), or: continuation) }
    }

    /// Ends the watching. The function returns when the thread has nothing left to do.
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
        await withCheckedContinuation { continuation in send(.events(events, continuation), or: continuation) }
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

    private func send(_ command: Command, or continuation: CheckedContinuation<Void, Never>) {
        let isAccepted = shared.withLock { shared in
            guard !shared.isEnded else { return false }
            if case .end = command { shared.isEnded = true }
            shared.commands.append(command)
            return true
        }
        guard isAccepted else { return continuation.resume() }
        var byte: UInt8 = 0
        _ = write(wakeUpStart.number, &byte, 1)
    }
}
