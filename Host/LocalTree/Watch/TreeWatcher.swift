import CLinux
import Glibc
public import Model
import Synchronization
import Threads

/// Notices what changes in the tree: every folder of it is watched by the kernel (`inotify(7)`), without following symbolic
/// links.
///
/// It says only where something changed, once it has kept still for a moment; what changed is found by comparing tree and rows.
/// Whoever makes one calls ``walk()`` first, compares everything then, so that nothing is missed in between, and calls
/// ``end()`` at last. It has a thread of its own. All functions may be called from any task; none blocks.
public final class TreeWatcher: Sendable {
    enum Command: Sendable {
        case walk(CheckedContinuation<Void, Never>)
        case events([WatchEvent], CheckedContinuation<Void, Never>)
        case end(CheckedContinuation<Void, Never>)
    }

    struct Shared {
        var dirty = DirtyPaths()
        /// When whoever compares looks again by itself; nil: it waits to be woken.
        var armed: Duration?
        var limit: Failure?
        var areUsesMissed = false
        var commands: [Command] = []
        var isEnded = false

        /// - Returns: whether something is due sooner than whoever compares looks again.
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
    /// Where is noted which copies programs use; nil: nobody wants to know.
    let uses: UseLog?
    /// Whose opens count.
    let readers: UseReaders
    /// How many folders are watched at most, whatever the kernel would allow.
    let most: Int
    let shared = Mutex(Shared())
    /// Below 0: the system has none to give.
    let inotify: Descriptor
    let inotifyError: Int32
    /// Tells who opens and reads what, with a queue of its own: it fills when every folder is read, and what is lost of it costs
    /// nothing that an access time does not tell later. Below 0: the system has none to give.
    let useEvents: Descriptor
    /// A pipe: a byte written into it wakes the thread.
    let wakeUpStart: Descriptor
    let wakeUpEnd: Descriptor

    /// - Parameters:
    ///   - uses: Where is noted which copies programs use; nil: nowhere.
    ///   - readers: Whose opens count.
    ///   - clock: The wall clock, by which uses are noted.
    ///   - monotonic: A clock that never jumps.
    ///   - wake: Called when a path or a use is due sooner than ``next()`` has said, and when the tree's root may have gone. It must
    ///     return at once.
    /// - Throws: `.localIO` if the system has no pipe or thread for it. That it has no watches is no error: see
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

    /// Watches all folders that are there now. Returns when they are watched, as far as the system allows; see ``limit``.
    public func walk() async {
        await withCheckedContinuation { continuation in send(.walk(continuation), or: continuation) }
    }

    /// Ends the watching. Returns when the thread has nothing left to do.
    public func end() async {
        await withCheckedContinuation { continuation in send(.end(continuation), or: continuation) }
    }

    /// Why not all folders are watched; nil: they are.
    public var limit: Failure? { shared.withLock { $0.limit } }

    /// Whether the system gives no watches to tell which copies are used: access times tell it, at the next comparison.
    public var areUsesMissed: Bool { shared.withLock { $0.areUsesMissed } }

    /// The paths that are to be compared now; what cannot be compared yet is given back by ``retry(_:)``.
    public func take() -> [DirtyPaths.Due] {
        let now = monotonic()
        return shared.withLock { $0.dirty.take(now: now) }
    }

    /// How long until the next path is due; nil: whoever asks is woken.
    public func next() -> Duration? {
        let now = monotonic()
        return shared.withLock { shared in
            shared.armed = [shared.dirty.next, uses?.with { $0.next }].compactMap(\.self).min()
            return shared.armed.map { max(.zero, $0 - now) }
        }
    }

    /// These could not be compared yet.
    public func retry(_ paths: [DirtyPaths.Due]) {
        change { dirty, now in
            for path in paths { dirty.retry(path, now: now) }
        }
    }

    /// Everything is to be compared again.
    public func markAll() { change { $0.markAll(now: $1) } }

    /// Notes events as if the kernel told them, after all that it has told. For tests.
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

    /// Programs use these.
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
