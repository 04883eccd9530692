import Glibc
import Model
import Synchronization
import Threads

/// A program that prints a secret. The program runs without a shell, without input, and in a process group of its own.
struct SecretCommand: Sendable {
    /// The program, which is searched for in PATH, and its arguments.
    let words: [String]
    var timeLimit: Duration = Self.timeLimit

    static let timeLimit: Duration = .seconds(30)

    /// Runs the program and returns its output. A thread that may block waits for the program. If the task is cancelled,
    /// the program and all that it started in its process group is ended.
    /// - Throws: `config`. The message does not contain the arguments, which may be secret.
    func output(limit: Int) async throws(Failure) -> [UInt8] {
        let group = RunningGroup()
        return try await withTaskCancellationHandler {
            await runBlocking { run(limit: limit, as: group) }
        } onCancel: {
            group.end()
        }.get()
    }

    private func run(limit: Int, as group: RunningGroup) -> Result<[UInt8], Failure> {
        var ends: [Int32] = [-1, -1]
        // Unlike a pipe, a socket pair is made with the close-on-exec mark from the start.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return .failure(failure("no socket can be created: \(errorText(errno))"))
        }
        // Before the number may be another's.
        defer {
            group.forgetOutput()
            close(ends[0])
        }
        let process: pid_t
        do throws(ChildProgram.NotStarted) {
            defer { close(ends[1]) }
            var program = ChildProgram(words: words)
            program.endsWithThread = true
            process = try program.start(writingTo: ends[1])
        } catch {
            return .failure(failure("it cannot be started: \(errorText(error.code))"))
        }
        group.begin(process, output: ends[0])
        // The limit is for the whole run, because a program may close its output and go on.
        let deadline = Deadline(after: timeLimit)
        var outcome = deadline.read(ends[0], limit: limit).mapError(failure)
        let ended: Int32? = if case .success = outcome { deadline.wait(for: group.reap) } else { nil }
        guard let status = ended, !group.isEnded else {
            let wasEnded = group.isEnded
            group.end()
            while group.reap() == nil { usleep(500) }
            guard !wasEnded else {
                return .failure(Failure(.failed, "the secret's command \(words[0]) was ended before it was done"))
            }
            if case .success = outcome { outcome = .failure(failure(.late)) }
            return outcome
        }
        if status != 0 {
            let how = status & 0x7f == 0 ? "it exited with \((status >> 8) & 0xff)" : "signal \(status & 0x7f) ended it"
            outcome = .failure(failure(how))
        }
        return outcome
    }

    private func failure(_ problem: Deadline.Problem) -> Failure {
        switch problem {
        case .late: failure("it took longer than \(ConfigScalar.write(timeLimit))")
        case .tooLong: failure("it printed more than \(SecretSource.longest) bytes")
        case .failed(let code): failure("its output cannot be read: \(errorText(code))")
        }
    }

    private func failure(_ what: String) -> Failure {
        Failure(.config, "the secret's command \(words[0]) failed: \(what)", hint: "run the command by hand to see why")
    }
}

/// The process group of a program that runs, which may be ended on any thread. It is never ended after its program was
/// reaped, when its number may be another's.
private final class RunningGroup: Sendable {
    private struct State {
        var leader: pid_t?
        /// The end of the program's output that is read here.
        var output: Int32?
        var isOver = false

        func end() {
            if let leader { kill(-leader, SIGKILL) }
            // What has left the group may have the other end for longer.
            if let output { shutdown(output, Int32(SHUT_RDWR)) }
        }
    }

    private let state = Mutex(State())

    var isEnded: Bool { state.withLock(\.isOver) }

    func begin(_ leader: pid_t, output: Int32) {
        state.withLock { state in
            (state.leader, state.output) = (leader, output)
            if state.isOver { state.end() }
        }
    }

    /// Notes that the output is read no more.
    func forgetOutput() { state.withLock { $0.output = nil } }

    /// Ends the group, and the reading of its output; one that has not begun yet, as soon as it begins.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.end()
        }
    }

    /// Returns the program's status if it has ended, or 0 if that is not known; else nil.
    func reap() -> Int32? {
        state.withLock { state in
            guard let leader = state.leader else { return 0 }
            var status: Int32 = 0
            let ended = waitpid(leader, &status, WNOHANG)
            if ended == 0 || ended < 0 && errno == EINTR { return nil }
            state.leader = nil
            return ended == leader ? status : 0
        }
    }
}
