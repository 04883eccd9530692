import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `larder demo --serve` or `larder plugin dev`, as a person would run it, with `--json`.
struct DemoProcess: Sendable {
    /// What the first line of the output tells.
    struct Place: Decodable {
        struct Server: Decodable {
            var url, user, password: String
        }

        var server: Server
        var config, folder, files: String
        /// The process of the host, if it runs by then.
        var host: pid_t?
    }

    /// What a later line of the output tells.
    struct Event: Decodable {
        var event: String?
        var pid, exitCode, signal: Int32?
        var found: Int?
        var message: String?
        // Of a line of a trace.
        var call, phase, what, path: String?
    }

    let child: ChildProcess
    /// The folder of the command's files, with its temporary folder.
    let folder: String
    private var output: String { "\(folder)/demo.out" }
    private var errorFile: String { "\(folder)/demo.err" }

    /// Starts a program in a folder, runs the body, and ends it in any case.
    static func running(
        _ arguments: [String], in folder: String, by larder: String? = nil,
        _ body: (DemoProcess) async throws -> Void
    ) async throws {
        try Files.makeFolder("\(folder)/tmp")
        // What an earlier one has told.
        Files.remove("\(folder)/demo.out")
        var environment = ProcessInfo.processInfo.environment
        environment.merge([
            "TMPDIR": "\(folder)/tmp", "HOME": folder, "XDG_RUNTIME_DIR": folder,
        ]) { $1 }
        let demo = DemoProcess(
            child: try ChildProcess(
                larder ?? (try Build.larder), ["--json"] + arguments, environment: environment,
                output: "\(folder)/demo.out", errors: "\(folder)/demo.err"), folder: folder)
        do {
            try await body(demo)
            await demo.child.stop()
        } catch {
            await demo.child.stop()
            throw error
        }
    }

    /// Waits for the first line of the output.
    func place() async throws -> Place {
        try await soon("the demo's first line", beside: child, log: errorFile) { try lines().count > 0 }
        guard let first = try lines().first else { throw SetupError("no first line: \(try errors())") }
        return try JSONDecoder().decode(Place.self, from: Data(first.utf8))
    }

    /// Returns what the lines of the output tell that are no part of a line.
    func events() throws -> [Event] {
        try lines().compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    /// Waits until an event was told so many times.
    /// - Returns: The last of them.
    @discardableResult
    func until(_ name: String, times: Int = 1) async throws -> Event {
        try await soon("\(name) \(times) times", beside: child, log: errorFile) {
            try events().count { $0.event == name } >= times
        }
        guard let event = try events().last(where: { $0.event == name }) else {
            throw SetupError("no event \(name): \(try errors())")
        }
        return event
    }

    func errors() throws -> String { try Files.text(errorFile) }

    /// What is left in the temporary folder.
    func left() throws -> [String] { try Files.names(in: "\(folder)/tmp") }

    /// The commands of another shell.
    func larder(_ place: Place) -> LarderCommand { LarderCommand(config: place.config, home: folder) }

    /// The processes that the command has started and that run.
    func children() throws -> [pid_t] { try Self.children(of: child.pid) }

    /// The children of a process that run.
    static func children(of pid: pid_t) throws -> [pid_t] {
        try Files.names(in: "/proc/\(pid)/task").flatMap { thread in
            let text = (try? Files.text("/proc/\(pid)/task/\(thread)/children")) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    private func lines() throws -> [Substring] {
        guard Files.exists(output) else { return [] }
        return try Files.text(output).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }
}

/// Whether a process runs.
func runs(_ pid: pid_t) -> Bool {
    guard let text = try? Files.text("/proc/\(pid)/stat") else { return false }
    // One that nobody has waited for does not.
    return text.split(separator: ")").last?.hasPrefix(" Z") == false
}
