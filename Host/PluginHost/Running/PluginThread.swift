import CLinux
import Glibc
import Synchronization

/// The one thread on which all calls into a plugin are made, one after the other.
///
/// A plugin may block: in a call of its own, or in a call of the host's. So its calls never run on the threads that Swift's
/// tasks share; a task that wants something done waits for it without a thread.
final class PluginThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// Who waits for a job, by its number.
        var waiters: [Int: @Sendable (any Error) -> Void] = [:]
        /// Those of them who do without it when the thread hangs.
        var hurried: Set<Int> = []
        var last = 0
    }

    /// Plugins are written for the stack of a program's main thread.
    private static let stackSize = 8 << 20

    private let state = Mutex(State())
    private let wake: Semaphore
    let name: String
    /// The thread; written once, before `init` returns.
    private let handle: pthread_t

    /// - Parameter name: what debuggers and `ps` show, cut to 15 bytes.
    init(name: String) throws(ThreadError) {
        self.name = name
        let wake = Semaphore()
        self.wake = wake
        let box = LoopBox()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var handle = pthread_t()
        let argument = Unmanaged.passRetained(box).toOpaque()
        let code = pthread_create(
            &handle, &attributes,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<LoopBox>.fromOpaque(argument).takeRetainedValue()
                let stack = linux_take_fatal_signals()
                defer { linux_give_back_signal_stack(stack) }
                box.ready.wait()
                box.loop.withLock { $0.take() }?()
                return nil
            }, argument)
        guard code == 0 else {
            Unmanaged<LoopBox>.fromOpaque(argument).release()
            throw ThreadError(code: code)
        }
        var short = Array(name.utf8.prefix(15)).map { CChar(bitPattern: $0) }
        short.append(0)
        linux_set_thread_name(handle, short)
        self.handle = handle
        box.loop.withLock { $0 = { [self] in work() } }
        box.ready.signal()
    }

    /// Whether the caller is on this thread.
    var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Runs the body on the plugin's thread, after everything that was asked before.
    /// - Parameter isHurried: whether ``passOver()`` ends the wait. The body goes on then if it has begun, and does not begin if not.
    /// - Throws: what the body throws; `CancellationError` once the thread was closed or given up; `PluginHangs` if passed over.
    func run<Result: Sendable>(
        isHurried: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let number = state.withLock { state in
                state.last += 1
                state.waiters[state.last] = { continuation.resume(throwing: $0) }
                if isHurried { state.hurried.insert(state.last) }
                return state.last
            }
            let isAccepted = enqueue { [self] in
                guard state.withLock({ $0.waiters[number] != nil }) else { return }
                let result = Swift.Result { try body() }
                if takeWaiter(number) != nil { continuation.resume(with: result) }
            }
            if !isAccepted { takeWaiter(number)?(CancellationError()) }
        }
    }

    private func takeWaiter(_ number: Int) -> (@Sendable (any Error) -> Void)? {
        state.withLock { state in
            state.hurried.remove(number)
            return state.waiters.removeValue(forKey: number)
        }
    }

    /// The call under way hangs: who is in a hurry waits no longer.
    func passOver() {
        let waiters = state.withLock { state in
            defer { state.hurried = [] }
            return state.hurried.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in waiters { waiter(PluginHangs()) }
    }

    /// Nobody waits any longer for what is under way or was asked; what has not begun is dropped. The thread ends when what is under
    /// way does, if ever.
    func giveUp() {
        let waiters = state.withLock { state in
            state.isClosed = true
            state.jobs = []
            state.hurried = []
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter(CancellationError()) }
        wake.signal()
    }

    /// Ends the thread after what was asked before; returns when it has nothing left to do.
    func close() async {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                guard !state.isClosed else { return false }
                state.last += 1
                let number = state.last
                state.waiters[number] = { _ in continuation.resume() }
                state.jobs.append { [self] in if takeWaiter(number) != nil { continuation.resume() } }
                state.isClosed = true
                return true
            }
            if isFirst { wake.signal() } else { continuation.resume() }
        }
    }

    /// Runs the job on the plugin's thread, after everything that was asked before.
    /// - Returns: false if the thread was closed; the job is dropped.
    @discardableResult
    func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        let isAccepted = state.withLock { state in
            guard !state.isClosed else { return false }
            state.jobs.append(job)
            return true
        }
        if isAccepted { wake.signal() }
        return isAccepted
    }

    private func work() {
        while true {
            wake.wait()
            let (job, isLast) = state.withLock { state -> (Job?, Bool) in
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                return (job, state.isClosed && state.jobs.isEmpty)
            }
            job?()
            if isLast { return }
        }
    }
}

/// A call into the plugin has not returned for long, and nobody waits for it.
public struct PluginHangs: Error {}

/// A thread could not be made.
struct ThreadError: Error {
    var code: Int32
}

/// What a new thread runs once the object that owns it is whole.
private final class LoopBox: Sendable {
    let ready = Semaphore()
    let loop = Mutex<(@Sendable () -> Void)?>(nil)
}

/// A counting semaphore of the C library, for the threads that may block.
///
/// Unchecked: the memory is allocated once, never moves, and is freed when nobody holds the object; POSIX lets every thread
/// post to it and wait for it.
private final class Semaphore: @unchecked Sendable {
    private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(raw, 0, 0) }
    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    func signal() { sem_post(raw) }

    func wait() {
        while sem_wait(raw) != 0 {}
    }
}
