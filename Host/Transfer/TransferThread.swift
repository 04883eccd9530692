import CCurl
import CLinux
import Glibc
import Synchronization
package import Threads

/// A thread that sends requests and takes the answers as they arrive, and on which tasks can run.
///
/// A task that runs where its answer arrives gets the bytes without a change of threads. Tasks on the threads for
/// downloads may block on the disk. That delays other downloads only, which wait for the same disk.
package final class TransferThread: TaskExecutor, @unchecked Sendable {
    /// The threads that run: none, or all, unless a start failed.
    package static var all: [TransferThread] { started.withLock(\.self) }
    /// The thread for everything that must not wait for a disk. One thread is fast enough for many connections. It is
    /// there after ``start()``.
    package static var common: TransferThread { all[0] }
    /// The threads for downloads. A few are enough, because each works without waiting for another.
    package static var downloads: ArraySlice<TransferThread> { all.dropFirst() }

    private static let started = Mutex<[TransferThread]>([])
    private static let number = 1 + min(4, max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Starts the threads, unless they run. After an error, a later call goes on with those that are missing.
    /// - Throws: ``ThreadError`` if there is no thread or no descriptor.
    package static func start() throws(ThreadError) {
        try started.withLock { threads throws(ThreadError) in
            while threads.count < number { threads.append(try TransferThread(number: threads.count)) }
        }
    }

    private enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    /// What other threads may touch.
    private struct State {
        var work: [Work] = []
        /// Whether the thread waits for something to happen, or is about to.
        var isWaiting = false
    }

    /// A body that runs at a time.
    private final class Timer: Sendable {
        let due: Duration
        let body: @Sendable () -> Void
        let isCancelled = Atomic(false)

        init(due: Duration, body: @escaping @Sendable () -> Void) { (self.due, self.body) = (due, body) }
    }

    private let state = Mutex(State())
    private let current = Atomic<UInt>(0)
    private let poll: Int32
    private let wake: Int32
    /// Whether the thread answers for downloads, whose pieces are large.
    let isForDownloads: Bool

    // What follows is used on the thread alone.
    private var lines: [ObjectIdentifier: TransferLine] = [:]
    private var sockets: [Int32: TransferLine] = [:]
    private var timers: [Timer] = []

    private init(number: Int) throws(ThreadError) {
        guard Self.hasLibrary else { fatalError("libcurl cannot be used, or does not use OpenSSL") }
        isForDownloads = number > 0
        (poll, wake) = (linux_poll_create(), linux_wake_create())
        let isSetUp = poll >= 0 && wake >= 0 && linux_poll_watch(poll, wake, UInt32(LINUX_POLL_IN)) == 0
        var error = isSetUp ? nil : ThreadError(code: errno)
        if isSetUp {
            do throws(ThreadError) { _ = try SystemThread(name: "transfer-\(number)") { self.run() } } catch let lack {
                error = lack
            }
        }
        guard let error else { return }
        for descriptor in [poll, wake] where descriptor >= 0 { linux_poll_close(descriptor) }
        throw error
    }

    private static let hasLibrary = ccurl_start()

    /// Whether the caller runs on the thread.
    package var isCurrent: Bool { current.load(ordering: .relaxed) == UInt(pthread_self()) }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs a body on the thread, after those that were passed before.
    package func call(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

    /// Runs a body on the thread after a time.
    /// - Returns: A function that keeps the body from being run.
    package func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let timer = Timer(due: .uptime + delay, body: body)
        call { [self] in
            let index = timers.firstIndex { $0.due > timer.due } ?? timers.endIndex
            timers.insert(timer, at: index)
        }
        return { timer.isCancelled.store(true, ordering: .relaxed) }
    }

    private func add(_ work: Work) {
        let mustWake = state.withLock { state in
            state.work.append(work)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if mustWake { linux_wake(wake) }
    }

    // MARK: On the thread

    private func run() {
        current.store(UInt(pthread_self()), ordering: .relaxed)
        var events = [linux_poll_event](repeating: linux_poll_event(), count: 64)
        while true {
            doWork()
            let due = fireTimers()
            let (isIdle, now) = (
                state.withLock { state in
                    state.isWaiting = state.work.isEmpty
                    return state.isWaiting
                }, Duration.uptime
            )
            let wait = !isIdle ? 0 : due.map { Int32(min(3_600_000, max(0, ($0 - now).roundedMilliseconds))) } ?? -1
            let count = linux_poll_wait(poll, &events, Int32(events.count), wait)
            state.withLock { $0.isWaiting = false }
            for event in events.prefix(Int(count)) {
                let descriptor = Int32(truncatingIfNeeded: event.token)
                if descriptor == wake {
                    linux_wake_take(wake)
                } else if let line = sockets[descriptor] {
                    line.isReady(descriptor, event.what & UInt32(LINUX_POLL_IN | LINUX_POLL_OUT | LINUX_POLL_ERROR))
                }
            }
        }
    }

    private func doWork() {
        while true {
            let work = state.withLock { state in
                defer { state.work = [] }
                return state.work
            }
            if work.isEmpty { return }
            for item in work {
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                case .call(let body): body()
                }
            }
        }
    }

    /// Does what is due.
    /// - Returns: The time at which something is due next; nil if nothing is.
    private func fireTimers() -> Duration? {
        let now = Duration.uptime
        while let first = timers.first, first.due <= now || first.isCancelled.load(ordering: .relaxed) {
            timers.removeFirst()
            if !first.isCancelled.load(ordering: .relaxed) { first.body() }
        }
        var due = timers.first?.due
        for (client, line) in lines {
            if let next = line.doDue(now) {
                due = min(due ?? next, next)
            } else {
                line.close()
                lines[client] = nil
            }
        }
        return due
    }

    /// Returns a client's line on this thread; nil if there is no memory for one.
    func line(of client: TransferClient) -> TransferLine? {
        if let line = lines[ObjectIdentifier(client)] { return line }
        guard let line = TransferLine(client, on: self) else { return nil }
        lines[ObjectIdentifier(client)] = line
        return line
    }

    /// Ends all requests of a client on this thread, and closes their connections.
    func close(_ client: TransferClient) {
        guard let line = lines.removeValue(forKey: ObjectIdentifier(client)) else { return }
        line.close()
    }

    /// Closes a client's connections on this thread, unless a request is under way.
    func closeIdle(_ client: TransferClient) {
        if lines[ObjectIdentifier(client)]?.isIdle == true { close(client) }
    }

    /// Has a line told when a socket can be read or written.
    func watch(_ socket: Int32, for what: UInt32, of line: TransferLine) {
        sockets[socket] = line
        _ = linux_poll_watch(poll, socket, what)
    }

    func forget(_ socket: Int32) {
        guard sockets.removeValue(forKey: socket) != nil else { return }
        linux_poll_forget(poll, socket)
    }
}

extension Duration {
    /// The time of the monotonic clock that timers use. Its zero is arbitrary.
    package static var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The number of milliseconds, rounded up.
    fileprivate var roundedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
