import CLinux
import Glibc
import Model
import Synchronization
import Threads

/// The process of a trial, which can be ended from another thread. This process becomes the parent of all that the trial
/// leaves behind, and ends that too.
final class TrialProcess: Sendable {
    private struct State {
        var pid: pid_t?
        var isEnded = false
    }

    private let state = Mutex(State())

    init() { _ = linux_adopt_orphans() }

    /// Runs the process to its end. Blocks. The process ends with this one.
    /// - Returns: What `waitpid` says of its end.
    /// - Throws: `cannotCreate` if it cannot be started, `failed` if it is ended, `internal` if it was stopped.
    func run(_ program: ChildProgram, output: Int32) throws(Failure) -> Int32 {
        var program = program
        program.endsWithThread = true
        let output = fcntl(output, F_DUPFD_CLOEXEC, 3)
        defer { close(output) }
        let child = try state.withLock { state throws(Failure) in
            guard !state.isEnded else { throw Failure(.failed, "the trial was ended") }
            do throws(ChildProgram.NotStarted) {
                let pid = try program.start(writingTo: output)
                state.pid = pid
                return pid
            } catch {
                throw Failure(.cannotCreate, "the trial cannot be started: \(errorText(error.code))")
            }
        }
        defer { endRest() }
        var isStopped = false
        while true {
            // Until it is waited for, its number is no other process's.
            var info = siginfo_t()
            while waitid(P_PID, id_t(child), &info, Int32(WEXITED | WSTOPPED | WNOWAIT)) != 0, errno == EINTR {}
            let ended = state.withLock { state -> Int32? in
                var status: Int32 = 0
                while waitpid(child, &status, WUNTRACED) < 0, errno == EINTR {}
                guard status & 0xff == 0x7f else {
                    kill(-child, SIGKILL)
                    state.pid = nil
                    return status
                }
                // Nothing in it watches over it any more.
                kill(child, SIGKILL)
                return nil
            }
            guard let ended else {
                isStopped = true
                continue
            }
            guard !isStopped else { throw Failure(.internal, "the plugin stopped the process, and it was ended") }
            return ended
        }
    }

    /// Ends the process, and keeps another from being started.
    func end() {
        state.withLock { state in
            state.isEnded = true
            guard let pid = state.pid else { return }
            // It may have left its group.
            kill(-pid, SIGKILL)
            kill(pid, SIGKILL)
        }
    }

    /// Ends all other children of this process.
    private func endRest() {
        while true {
            var info = siginfo_t()
            guard waitid(P_ALL, 0, &info, Int32(WEXITED | WNOHANG | WNOWAIT)) == 0 || errno == EINTR else { return }
            for child in ProcessFamily.children(of: getpid()) { kill(child, SIGKILL) }
            while waitpid(-1, nil, WNOHANG) > 0 {}
            _ = poll(nil, 0, 5)
        }
    }

    /// Copies standard input to a file. Blocks until its end, or until the process is ended.
    /// - Throws: `failed` if the process is ended; the error of reading or writing.
    func copyInput(to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(.cannotCreate, "\(path): \(errorText(errno))") }
        defer { close(file) }
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var poller = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            let ready = poll(&poller, 1, 200)
            guard !state.withLock(\.isEnded) else { throw Failure(.failed, "the trial was ended") }
            guard ready > 0 else { continue }
            let count = read(0, &piece, piece.count)
            if count == 0 { return }
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                throw .reading("standard input", errno)
            }
            guard write(file, &piece, count) == count else {
                throw Failure(.localIO, "the items cannot be kept: \(errorText(errno))")
            }
        }
    }
}

/// The state of the terminal that this process is in the foreground of. A plugin may change it.
struct TerminalState {
    private let terminal: Int32
    private let modes: termios

    /// Reads the state; nil if there is no terminal, or others are in its foreground.
    init?() {
        guard let terminal = [Int32(0), 2].first(where: { isatty($0) == 1 && tcgetpgrp($0) == getpgrp() }) else {
            return nil
        }
        var modes = termios()
        guard tcgetattr(terminal, &modes) == 0 else { return nil }
        (self.terminal, self.modes) = (terminal, modes)
    }

    /// Makes the state what it was.
    func restore() {
        // Whoever is not in the foreground would be stopped for this.
        let before = signal(SIGTTOU, SIG_IGN)
        tcsetpgrp(terminal, getpgrp())
        var modes = modes
        tcsetattr(terminal, TCSANOW, &modes)
        signal(SIGTTOU, before)
    }
}
