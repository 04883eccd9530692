import CLinux
import Glibc
import Model
import Synchronization
import Threads

/// A program that a command started and that runs beside it. It is killed when this process is killed.
///
/// ```swift
/// let program = try await RunningProgram.start(ChildProgram(words: ["./build"]), output: pipe)
/// let ending = await program.ended()
/// ```
final class RunningProgram: Sendable {
    /// How a program ended.
    enum Ending: Hashable, Sendable, CustomStringConvertible {
        case code(Int32)
        case signal(Int32)

        init(waitStatus status: Int32) {
            self = status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
        }

        /// Such as `exit code 1`.
        var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }

        /// The members of the JSON that tells of the end.
        var members: [JSONValue.Member] {
            switch self {
            case .code(let code):
                [.init(name: "exitCode", value: .integer(Int64(code))), .init(name: "signal", value: .null)]
            case .signal(let signal):
                [.init(name: "exitCode", value: .null), .init(name: "signal", value: .integer(Int64(signal)))]
            }
        }
    }

    private struct State {
        var ending: Ending?
        var isEndWanted = false
    }

    /// The process, and its group.
    let pid: pid_t
    private let state = Monitor(State())

    private init(pid: pid_t) { self.pid = pid }

    /// Starts a program.
    /// - Parameters:
    ///   - output: The descriptor that becomes its standard output, above 2.
    ///   - errors: The descriptor that becomes its standard error, above 2; nil for that of this process.
    static func start(
        _ program: ChildProgram, output: Int32, errors: Int32? = nil
    ) async throws(ChildProgram.NotStarted) -> RunningProgram {
        var program = program
        program.endsWithThread = true
        let started = await withCheckedContinuation { continuation in
            // The thread that starts it waits for its end.
            runBlockingLater { [program] in
                do throws(ChildProgram.NotStarted) {
                    let pid = try program.start(writingTo: output, errorsTo: errors)
                    let running = RunningProgram(pid: pid)
                    continuation.resume(returning: Result<RunningProgram, ChildProgram.NotStarted>.success(running))
                    running.wait()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try started.get()
    }

    /// Whether this process has asked the program to end.
    var isEndWanted: Bool { state.with(\.isEndWanted) }

    var hasEnded: Bool { state.with { $0.ending != nil } }

    /// Waits for the end. That the task is cancelled does not end the wait.
    func ended() async -> Ending {
        await state.wait { $0.ending != nil }
        return state.with(\.ending) ?? .code(0)
    }

    /// Waits for the end.
    /// - Throws: `CancellationError` if the task is cancelled.
    func endedUnlessCancelled() async throws(CancellationError) -> Ending {
        try await state.waitUnlessCancelled { $0.ending != nil }
        return await ended()
    }

    /// Waits for the end, and ends the program if the task is cancelled.
    /// - Parameters:
    ///   - signal: The signal that asks the program to end.
    ///   - grace: The time after which it is killed.
    func endedOrEnd(by signal: Int32, within grace: Duration) async -> Ending {
        do { return try await endedUnlessCancelled() } catch { return await end(by: signal, within: grace) }
    }

    /// Asks the program and its group to end, kills them if they do not, and waits for the end. What the program started
    /// is killed too, in whatever group.
    func end(by signal: Int32, within grace: Duration) async -> Ending {
        await runBlocking { [self] in
            let all = ProcessFamily(of: pid)
            state.change { state in
                state.isEndWanted = true
                // Until it is waited for, its number is no other process's.
                guard state.ending == nil else { return }
                kill(-pid, signal)
                // One that was stopped would not see it.
                kill(-pid, SIGCONT)
            }
            let end = ContinuousClock.now + grace
            while state.with({ $0.ending == nil }), ContinuousClock.now < end { usleep(5_000) }
            let rest = state.with { $0.ending == nil } ? ProcessFamily(of: pid) : nil
            state.change { state in
                guard state.ending == nil else { return }
                kill(-pid, SIGKILL)
                kill(pid, SIGKILL)
            }
            rest?.kill()
            all.kill()
        }
        return await ended()
    }

    /// Waits for the end, and ends what is left of the group. Blocks.
    private func wait() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, Int32(WEXITED | WNOWAIT)) != 0, errno == EINTR {}
        state.change { state in
            kill(-pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            state.ending = Ending(waitStatus: status)
        }
    }
}

/// The processes below a process, as they were when this was made.
struct ProcessFamily {
    private struct Member {
        let pid: pid_t
        /// What tells it from a later process with its number.
        let start: Substring
    }

    private var members: [Member] = []

    /// Finds all processes that descend from a process. Blocks.
    init(of pid: pid_t) {
        var parents = [pid]
        while let parent = parents.popLast() {
            for child in Self.children(of: parent) where !members.contains(where: { $0.pid == child }) {
                guard let start = Self.start(of: child) else { continue }
                members.append(Member(pid: child, start: start))
                parents.append(child)
            }
        }
    }

    /// Kills those that still run.
    func kill() {
        for member in members where Self.start(of: member.pid) == member.start { Glibc.kill(member.pid, SIGKILL) }
    }

    /// Returns the children of a process, each of which belongs to one of its threads.
    static func children(of pid: pid_t) -> [pid_t] {
        var children: [pid_t] = []
        guard let tasks = opendir("/proc/\(pid)/task") else { return [] }
        defer { closedir(tasks) }
        while let entry = readdir(tasks) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let bytes = try? readFile("/proc/\(pid)/task/\(name)/children", limit: 1 << 20) else { continue }
            children += String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }
        return children
    }

    /// Returns the time at which a process was started, in the system's words; nil if it does not run.
    private static func start(of pid: pid_t) -> Substring? {
        guard let bytes = try? readFile("/proc/\(pid)/stat", limit: 1 << 16) else { return nil }
        // The name in parentheses may have spaces and parentheses. Twenty fields stand before the time.
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 19 ? fields[19] : nil
    }
}
