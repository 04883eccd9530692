import CLinux
import Glibc
import Model
import Synchronization
import Threads
import Validator

/// The process of one check.
enum CheckProcess {
    /// Makes a check in this process, and writes the outcome. Blocks.
    /// - Parameters:
    ///   - id: The id of the check; nil for random lives.
    ///   - library: The library's absolute path.
    ///   - folder: The folder of the check.
    ///   - lives: The milliseconds for random lives.
    static func make(_ id: String?, library: String, seed: UInt64, folder: String, lives: Int64?) {
        do throws(Failure) {
            let site = try CheckSite(library: library, seed: seed, folder: folder)
            // The end of the process marks the calls that are under way. Their memory must be there until then.
            _ = Unmanaged.passRetained(site)
            CheckLimits.set()
            let check = PluginCheck.all.first { $0.id == id }
            let outcome = onPluginThread {
                check.map { site.make($0) } ?? RandomLives.go(site, for: .milliseconds(lives ?? 0)).outcome
            }
            write(outcome.text, to: outcomeFile(in: folder))
            // What runs when a process ends in order is a check of its own.
            if check?.id == PluginCheck.ofEnd { exit(0) }
        } catch {
            write(impossible + error.message, to: outcomeFile(in: folder))
        }
    }

    /// Runs a body on a thread with a stack as the host's threads for plugins have it, and waits for it.
    static func onPluginThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let work = Work(body)
        do throws(ThreadError) {
            _ = try SystemThread(name: "check", stackSize: 8 << 20) { work.run() }
        } catch {
            return body()
        }
        return work.wait()
    }

    private final class Work<Value: Sendable>: Sendable {
        private let body: @Sendable () -> Value
        private let ended = Semaphore()
        private let value = Mutex<Value?>(nil)

        init(_ body: @escaping @Sendable () -> Value) { self.body = body }

        func run() {
            let value = body()
            self.value.withLock { $0 = value }
            ended.signal()
        }

        func wait() -> Value {
            ended.wait()
            guard let value = value.withLock(\.self) else { fatalError("the work ended without a value") }
            return value
        }
    }

    /// Runs the process of a check to its end, or until the time is over or the task is cancelled. Blocks.
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - folder: The folder of the check, which is made and stays.
    ///   - limit: The longest time.
    ///   - isCancelled: Tells whether the process is to be ended.
    static func run(
        _ words: [String], in folder: String, limit: Duration, isCancelled: () -> Bool
    ) throws(Failure) -> CheckOutcome {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw Failure(.localIO, "\(folder): \(errorText(errno))")
        }
        unlink(outcomeFile(in: folder))
        var program = ChildProgram(words: words)
        (program.endsWithThread, program.discardsErrors) = (true, true)
        // What a plugin or the fake host leaves behind goes with the folder.
        program.environment = surroundings(in: folder)
        // What a plugin prints goes where its errors go.
        let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        let child: pid_t
        do throws(ChildProgram.NotStarted) { child = try program.start(writingTo: output) } catch {
            throw Failure(.cannotCreate, "the process of a check cannot be started: \(errorText(error.code))")
        }
        let end = ContinuousClock.now + limit
        var status: Int32 = 0
        var pause: Int32 = 1
        while waitpid(child, &status, WNOHANG | WUNTRACED) == 0 || status & 0xff == 0x7f {
            let isStopped = status & 0xff == 0x7f
            guard !isStopped, !isCancelled(), ContinuousClock.now < end else {
                kill(-child, SIGKILL)
                kill(child, SIGKILL)
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                if isCancelled() { throw Failure(.failed, "the validation was ended") }
                let what = isStopped ? "it stopped the process" : "\(hung) within \(Int(limit / .seconds(1))) s"
                return .found(CheckNote.complete(Finding(what), from: folder))
            }
            _ = poll(nil, 0, pause)
            pause = min(20, pause + 1)
        }
        // It may have left its group.
        kill(-child, SIGKILL)
        let signal = status & 0x7f
        if signal != 0 {
            let known = String(cString: linux_signal_name(signal))
            let name = known.hasPrefix("SIG") ? known : "signal \(signal)"
            return .found(CheckNote.complete(Finding("it crashed (\(name))"), from: folder))
        }
        let code = status >> 8 & 0xff
        let text = (try? readFile(outcomeFile(in: folder), limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
        if let text, text.hasPrefix(impossible) {
            throw Failure(.localIO, "a check cannot be made: \(text.dropFirst(impossible.count))")
        }
        guard code == 0, let text, let outcome = CheckOutcome(reading: text) else {
            try probe(folder)
            return .found(CheckNote.complete(Finding("it ended the process with the exit code \(code)"), from: folder))
        }
        return outcome
    }

    /// Returns this process's environment with another folder for what is temporary, and without reports of crashes, which
    /// take seconds.
    private static func surroundings(in folder: String) -> [String] {
        var variables: [String] = []
        var variable = environ
        while let text = variable.pointee {
            let text = String(cString: text)
            if !text.hasPrefix("TMPDIR="), !text.hasPrefix("SWIFT_BACKTRACE=") { variables.append(text) }
            variable += 1
        }
        return variables + ["TMPDIR=\(folder)", "SWIFT_BACKTRACE=enable=no"]
    }

    /// The beginning of a finding about a process that did not end.
    static let hung = "it did not end"

    /// The beginning of what a check writes that could not be made, which is not the plugin's fault.
    private static let impossible = "impossible: "

    /// Checks that the folder of a check takes what a check writes.
    private static func probe(_ folder: String) throws(Failure) {
        let path = folder + "/probe"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(.localIO, "\(path): \(errorText(errno))") }
        defer {
            close(file)
            unlink(path)
        }
        let code = posix_fallocate(file, 0, 1 << 16)
        guard code == 0 else { throw Failure(.localIO, "\(folder): \(errorText(code))") }
    }

    private static func outcomeFile(in folder: String) -> String { folder + "/outcome" }

    private static func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        var bytes = Array(text.utf8)
        _ = Glibc.write(file, &bytes, bytes.count)
    }
}
