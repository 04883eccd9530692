import CLinux
import Glibc
import Model
import Synchronization
import Threads

/// The kernel's queues of events (`inotify(7)`) that all watchers of the process share: the system grants a user only
/// few, 128 by default.
///
/// One thread reads the queues, and hands each event to the watchers that hold its watch. The thread waits for no
/// disk and for no watcher, so that no account holds up another. When a queue overflows, only the watchers in that queue
/// learn of it.
final class WatchQueues: Sendable {
    enum Kind { case changes, uses }

    /// A watcher's place in a queue.
    struct Place {
        let queue: Int
        let member: Int
    }

    /// One of the kernel's queues.
    struct Queue {
        let kind: Kind
        let descriptor: Int32
        var members: [Int: TreeWatcher] = [:]
        /// The members that hold each watch. Two hold one if their trees share a folder, as by a bind mount.
        var holders: [Int32: [Int]] = [:]
        /// The number of watches that are being added now. Their events may be read before it is known whose they are.
        var adding = 0
        var early: [WatchEvent] = []
        /// The watches that nobody holds any more, and that the kernel still has.
        var given: Set<Int32> = []
    }

    struct State {
        var queues: [Int: Queue] = [:]
        var last = 0
        var isReading = false
        /// The descriptors that the reading thread closes, since it may be waiting for them now.
        var closing: [Int32] = []
        /// What watchers get when everything has been read that is in the queues now.
        var after: [@Sendable () -> Void] = []
    }

    static let shared = WatchQueues()
    /// The largest number of queues of each kind. An overflow of one concerns few watchers then.
    private static let most = 8
    /// The largest number of events that are kept while it is not known whose they are.
    static let mostEarly = 1 << 16

    let state = Mutex(State())
    /// The ends of a pipe, made with the first queue. A byte written into the pipe wakes the thread.
    let wakeUp = Mutex<(end: Int32, start: Int32)?>(nil)

    /// Gives a watcher a place in a queue.
    /// - Returns: Nil, with `errno`, if the system grants no queue.
    /// - Throws: `.localIO` if the system has no pipe or thread for reading.
    func join(_ watcher: TreeWatcher, _ kind: Kind) throws(Failure) -> Place? {
        try makePipe()
        let (place, code, isFirst) = state.withLock { state -> (Place?, Int32, Bool) in
            var code: Int32 = 0
            let existing = state.queues.filter { $0.value.kind == kind }
            var number = existing.min { $0.value.members.count < $1.value.members.count }?.key
            if existing.count < Self.most, existing.allSatisfy({ !$0.value.members.isEmpty }) {
                let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
                code = errno
                if descriptor >= 0 {
                    state.last += 1
                    number = state.last
                    state.queues[state.last] = Queue(kind: kind, descriptor: descriptor)
                }
            }
            guard let number else { return (nil, code, false) }
            state.last += 1
            state.queues[number]?.members[state.last] = watcher
            defer { state.isReading = true }
            return (Place(queue: number, member: state.last), 0, !state.isReading)
        }
        if isFirst {
            do throws(ThreadError) { _ = try SystemThread(name: "tree watcher") { [self] in read() } } catch {
                state.withLock { $0.isReading = false }
                if let place { leave(place, []) }
                throw .system("making a thread to watch \(watcher.tree.root)", error.code)
            }
        } else {
            wake()
        }
        errno = code
        return place
    }

    /// Takes a watcher out of its queue. The watcher gets no further events.
    /// - Parameter watches: The watches that the watcher holds.
    func leave(_ place: Place, _ watches: [Int32]) {
        state.withLock { state in
            state.queues[place.queue]?.members[place.member] = nil
            guard state.queues[place.queue]?.members.isEmpty == false else {
                // The kernel ends the watches with their queue.
                if let queue = state.queues.removeValue(forKey: place.queue) { state.closing.append(queue.descriptor) }
                return
            }
            state.queues[place.queue]?.remove(watches, of: place.member)
        }
        wake()
    }

    /// Adds a watch.
    /// - Parameter path: The folder's path.
    /// - Returns: The watch; below 0 with `errno` if the system does not grant it.
    func add(_ path: String, _ mask: UInt32, at place: Place) -> Int32 {
        let queue = state.withLock { state in
            state.queues[place.queue]?.adding += 1
            return state.queues[place.queue]?.descriptor ?? -1
        }
        // A folder on a disk that does not answer may block here. Nobody waits for the lock meanwhile.
        let watch = inotify_add_watch(queue, path, mask | UInt32(IN_MASK_ADD))
        let code = errno
        state.withLock { state in
            state.queues[place.queue]?.added(watch, by: place.member, most: Self.mostEarly)
        }
        errno = code
        return watch
    }

    /// Removes watches.
    func remove(_ watches: [Int32], at place: Place) {
        state.withLock { $0.queues[place.queue]?.remove(watches, of: place.member) }
    }

    /// Calls a function on the reading thread when all events have been handed on that are in the queues now.
    func after(_ body: @escaping @Sendable () -> Void) {
        let isReading = state.withLock { state in
            if state.isReading { state.after.append(body) }
            return state.isReading
        }
        if isReading { wake() } else { body() }
    }

    deinit {
        if let (end, start) = wakeUp.withLock(\.self) {
            close(end)
            close(start)
        }
    }

    private func makePipe() throws(Failure) {
        let code: Int32 = wakeUp.withLock { wakeUp in
            guard wakeUp == nil else { return 0 }
            var ends: [Int32] = [-1, -1]
            guard linux_pipe_cloexec(&ends) == 0 else { return errno }
            wakeUp = (ends[0], ends[1])
            return 0
        }
        guard code == 0 else { throw .system("watching folders", code) }
    }

    private func wake() {
        var byte: UInt8 = 0
        if let start = wakeUp.withLock({ $0?.start }) { write(start, &byte, 1) }
    }
}

extension WatchQueues.Queue {
    /// Hands events to the members whose watches they are of.
    mutating func hand(_ events: [WatchEvent], most: Int) {
        var all: [Int: [WatchEvent]] = [:]
        for event in events {
            if event.has(IN_Q_OVERFLOW) {
                for member in members.keys { all[member, default: []].append(event) }
                continue
            }
            guard let holders = holders[event.watch] else {
                if adding > 0, early.count < most { early.append(event) }
                continue
            }
            for member in holders { all[member, default: []].append(event) }
            if event.has(IN_IGNORED) { self.holders[event.watch] = nil }
        }
        for (member, events) in all { members[member]?.receive(events, of: kind) }
    }

    /// Notes who holds a watch that was added, and hands on its events that came before.
    mutating func added(_ watch: Int32, by member: Int, most: Int) {
        adding -= 1
        if watch >= 0, holders[watch]?.contains(member) != true {
            holders[watch, default: []].append(member)
            var mine = early.filter { $0.watch == watch }
            // If there was no more room, an event may be missing.
            if early.count >= most { mine.append(.overflow) }
            if !mine.isEmpty { members[member]?.receive(mine, of: kind) }
            if mine.contains(where: { $0.has(IN_IGNORED) }) { holders[watch] = nil }
        }
        guard adding == 0 else { return }
        early = []
        sweep()
    }

    fileprivate mutating func remove(_ watches: [Int32], of member: Int) {
        for watch in watches {
            guard let left = holders[watch]?.filter({ $0 != member }) else { continue }
            holders[watch] = left.isEmpty ? nil : left
            if left.isEmpty { given.insert(watch) }
        }
        sweep()
    }

    /// Removes the watches that nobody holds from the kernel's queue, unless somebody may be about to hold one.
    private mutating func sweep() {
        guard adding == 0 else { return }
        for watch in given where holders[watch] == nil { inotify_rm_watch(descriptor, watch) }
        given = []
    }
}
