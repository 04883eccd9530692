import CLinux
import Glibc
public import Model
import Threads

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
    /// A library that was not opened in time. Another attempt may succeed.
    case unknown(String)
    /// A process that could not be started, and the error's code.
    case lack(String, Int32)
}

extension ProbeCommand {
    /// Runs the child process to its end. Blocks; call this method on a thread that may block.
    func run(library: String) -> ProbeOutcome {
        guard let name = arguments.first else { return .unknown("no program was given to test the library with") }
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { return .lack("no pipe can be made", errno) }
        defer { close(ends[0]) }
        let child: pid_t
        do throws(ChildProgram.NotStarted) {
            defer { close(ends[1]) }
            child = try program(for: library).start(writingTo: ends[1])
        } catch {
            return .lack("\(name) cannot be started", error.code)
        }
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

    private func program(for library: String) -> ChildProgram {
        var program = ChildProgram(words: arguments + [library])
        program.discardsErrors = true
        // The library may hang, and only this thread ends it then.
        program.endsWithThread = true
        program.folder = "/"
        // The backtracer would turn a raised signal into an exit with code 0.
        var variables = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
        if let path = getenv("LD_LIBRARY_PATH") { variables.append("LD_LIBRARY_PATH=" + String(cString: path)) }
        program.environment = variables
        return program
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

    private static func signalName(_ number: Int32) -> String {
        strsignal(number).map { String(cString: $0) } ?? "signal \(number)"
    }
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
            case .lack(let what, let code): reason = Refusal.lack(what, code).reason
            }
        }
        throw Failure(.failed, "\(path) cannot be used: \(reason)")
    }
}
