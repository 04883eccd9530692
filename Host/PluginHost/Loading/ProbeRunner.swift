import CLinux
import Glibc
public import Model

/// A command that opens a library in a child process first. A library that crashes, hangs or exits while it is opened
/// does not harm the host.
public struct ProbeCommand: Hashable, Sendable {
    /// The program and its arguments, to which the library's path is added. The program calls `PluginProbe.main`.
    public var arguments: [String]
    /// The longest time that opening and describing a library may take.
    public var limit: Duration

    /// Creates a command.
    public init(arguments: [String], limit: Duration = .seconds(10)) {
        self.arguments = arguments
        self.limit = limit
    }
}

/// The result of opening a library in the child process.
enum ProbeOutcome: Hashable, Sendable {
    /// A library that was described, with its plugins.
    case described([PluginID])
    /// A library that was refused in an orderly way. Opening it did no harm.
    case refused(String)
    /// A library that ended the process when it was opened. The same bytes will do so again.
    case deadly(String)
    /// A library that was not opened in time, or a process that could not be started. Another attempt may succeed.
    case unknown(String)
}

extension ProbeCommand {
    /// Runs the child process to its end. Blocks; call this method on a thread that may block.
    func run(library: String) -> ProbeOutcome {
        guard let program = arguments.first else { return .unknown("no program was given to test the library with") }
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { return .unknown(Self.text(errno)) }
        defer { close(ends[0]) }
        let child: pid_t
        switch spawn(program, library: library, output: ends[1]) {
        case .success(let started): child = started
        case .failure(let error):
            close(ends[1])
            return .unknown("\(program) cannot be started: \(Self.text(error.code))")
        }
        close(ends[1])
        let deadline = ContinuousClock.now + limit
        let line = readLine(from: ends[0], until: deadline)
        var status: Int32 = 0
        // A child process that has closed its output may still hang.
        let isLate = line == nil || !hasEnded(child, &status, until: deadline)
        if isLate {
            kill(-child, SIGKILL)
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        }
        // Processes that the library may have started die with the child.
        kill(-child, SIGKILL)
        if isLate { return .unknown("opening it did not end within \(limit)") }
        if status & 0x7f != 0 { return .deadly("opening it crashed: \(Self.signalName(status & 0x7f))") }
        let text = line ?? ""
        if text.hasPrefix(PluginProbe.described) {
            let ids = text.dropFirst(PluginProbe.described.count).split(separator: " ")
            return .described(ids.map { PluginID(String($0)) })
        }
        if text.hasPrefix(PluginProbe.refused) { return .refused(String(text.dropFirst(PluginProbe.refused.count))) }
        return .deadly("opening it ended the process with exit code \(status >> 8 & 0xff)")
    }

    private func spawn(_ program: String, library: String, output: Int32) -> Result<pid_t, SpawnError> {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        linux_spawn_close_from(&actions, 3)
        linux_spawn_change_folder(&actions, "/")
        // The child gets a process group of its own, so that the whole group can be ended. No signal of the host is
        // blocked or ignored in the child.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // The backtracer would turn a raised signal into an exit with code 0.
        var variables = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
        if let path = getenv("LD_LIBRARY_PATH") { variables.append("LD_LIBRARY_PATH=" + String(cString: path)) }
        let argv: [UnsafeMutablePointer<CChar>?] = (arguments + [library]).map { strdup($0) } + [nil]
        let environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in argv + environment { free(text) } }
        var child = pid_t()
        let code = posix_spawnp(&child, program, &actions, &attributes, argv, environment)
        return code == 0 ? .success(child) : .failure(SpawnError(code: code))
    }

    /// Returns what the child writes until it closes its output, less than 8 KiB and without the newline; nil if it
    /// does not close it in time.
    private func readLine(from descriptor: Int32, until deadline: ContinuousClock.Instant) -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let left = ContinuousClock.now.duration(to: deadline).nanoseconds / 1_000_000
            guard left > 0 else { return nil }
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&poller, 1, Int32(clamping: left))
            if ready < 0 && errno == EINTR || ready == 0 { continue }
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            if bytes.count < chunk.count { bytes += chunk[..<count] }
        }
        if bytes.last == 0x0a { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Tells whether the child ends in time. A child that closed its output has usually ended by then.
    private func hasEnded(_ child: pid_t, _ status: inout Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return true }
            guard ended == 0 || errno == EINTR, ContinuousClock.now < deadline else { return false }
            _ = poll(nil, 0, 1)
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func signalName(_ number: Int32) -> String {
        strsignal(number).map { String(cString: $0) } ?? "signal \(number)"
    }
}

/// The error of a process that could not be made, as in `errno`.
private struct SpawnError: Error {
    var code: Int32
}

extension ProbeCommand {
    /// Returns the plugins in an unknown library, which is opened in the child process only. Blocks.
    /// - Parameter path: The absolute path of the library.
    /// - Throws: `.failed` with the reason why the library cannot be used.
    public func plugins(inLibrary path: String) throws(Failure) -> [PluginID] {
        let reason: String
        if let refusal = PathSafety.refusal(of: path) ?? ELFHeader.refusal(of: path) {
            reason = refusal.reason
        } else {
            switch run(library: path) {
            case .described(let ids) where !ids.isEmpty: return ids
            case .described: reason = "it describes no plugin"
            case .refused(let why), .deadly(let why), .unknown(let why): reason = why
            }
        }
        throw Failure(.failed, "\(path) cannot be used: \(reason)")
    }
}
