import CSpawn
import FoundationEssentials
public import Glibc
import Synchronization

/// The way in which a process ended.
public enum ExitStatus: Hashable, Sendable, CustomStringConvertible {
    case code(Int32)
    case signal(Int32)
    /// The test killed the process at its time limit. `threads` describes the process's threads at that moment.
    case killed(after: Duration, threads: String)

    public var description: String {
        switch self {
        case .code(let code): "code(\(code))"
        case .signal(let signal): "signal(\(signal))"
        case .killed(let limit, let threads):
            "killed by the test: it had not ended after \(limit). Its threads were:\n\(threads)"
        }
    }
}

/// A program that a test started. The program runs in a process group of its own. The code that starts the program also
/// stops it.
public final class ChildProcess: Sendable {
    public let pid: pid_t

    private enum State {
        case running([CheckedContinuation<ExitStatus, Never>])
        case ended(ExitStatus)
    }

    /// The status of a process that was killed at its time limit; nil until then.
    private let overdue = Mutex<ExitStatus?>(nil)

    private let state = Mutex(State.running([]))

    /// Starts a program.
    /// - Parameters:
    ///   - program: the path of an executable, or a name that is searched for in `PATH`.
    ///   - environment: the program's whole environment; nil gives the program the test's own environment.
    ///   - output: a file for standard output; nil discards the output.
    ///   - errors: a file for standard error; nil discards the errors.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil, output: String? = nil,
        errors: String? = nil
    ) throws {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let argv = CStrings([program] + arguments)
        let envp = CStrings(environment.map { "\($0.key)=\($0.value)" })
        var pid: pid_t = 0
        let failure = spawn_program(
            program, argv.pointers, envp.pointers, output ?? "/dev/null", errors ?? "/dev/null", &pid)
        guard failure == 0 else { throw SetupError("cannot start \(program): \(String(cString: strerror(failure)))") }
        self.pid = pid
        try startReaper()
    }

    /// Sends the signal, unless the process has ended.
    public func send(_ signal: Int32) {
        state.withLock { state in
            if case .running = state { kill(pid, signal) }
        }
    }

    /// Returns whether the process would end by the signal: it neither ignores it nor has a handler for it.
    /// - Throws: an error if the process has ended.
    public func isEnded(by signal: Int32) throws -> Bool {
        let lines = try Files.text("/proc/\(pid)/status").split(separator: "\n")
        let masks = lines.filter { $0.hasPrefix("SigIgn:") || $0.hasPrefix("SigCgt:") }
            .compactMap { UInt64($0.dropFirst(7).drop(while: \.isWhitespace), radix: 16) }
        return !masks.contains { $0 & 1 << UInt64(signal - 1) != 0 }
    }

    /// Whether the process has ended.
    public var hasEnded: Bool {
        state.withLock { state in
            if case .ended = state { true } else { false }
        }
    }

    /// Waits until the process has ended.
    public func wait() async -> ExitStatus {
        await withCheckedContinuation { continuation in
            let ended: ExitStatus? = state.withLock { state in
                switch state {
                case .ended(let status): return status
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    /// Waits until the process has ended. After `timeout` the process and its whole group are killed, and the status is
    /// ``ExitStatus/killed``.
    public func wait(atMost timeout: Duration) async -> ExitStatus {
        let killer = Task {
            try await Task.sleep(for: timeout)
            self.killGroup(after: timeout)
        }
        defer { killer.cancel() }
        return await wait()
    }

    /// Asks the process to end, and kills its group if the process still runs a minute later.
    @discardableResult public func stop() async -> ExitStatus {
        send(SIGTERM)
        return await wait(atMost: .seconds(60))
    }

    private func killGroup(after limit: Duration) {
        state.withLock { state in
            guard case .running = state else { return }
            overdue.withLock { $0 = .killed(after: limit, threads: ThreadReport.text(ofGroup: pid)) }
            kill(-pid, SIGKILL)
        }
    }

    /// Starts a thread of its own for the child: waiting blocks the thread, and no thread pool grows fast enough for
    /// that.
    private func startReaper() throws {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ChildProcess>.fromOpaque(context).takeRetainedValue().reap()
                return nil
            }, context)
        guard failure == 0 else { throw SetupError("cannot start a thread: \(String(cString: strerror(failure)))") }
        pthread_detach(thread)
    }

    /// Waits without reaping first. Until the lock is held, the pid remains this child's, so a signal cannot reach
    /// another process.
    private func reap() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let (status, waiting): (ExitStatus, [CheckedContinuation<ExitStatus, Never>]) = state.withLock { state in
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
            var status: ExitStatus = raw & 0x7f == 0 ? .code((raw >> 8) & 0xff) : .signal(raw & 0x7f)
            if status == .signal(SIGKILL), let overdue = overdue.withLock({ $0 }) { status = overdue }
            guard case .running(let waiting) = state else { return (status, []) }
            state = .ended(status)
            return (status, waiting)
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }
}

/// A null-terminated array of C strings, as `execve` expects.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { (pointers + index).initialize(to: strdup(string)) }
        (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
