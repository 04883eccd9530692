import FoundationEssentials
public import Glibc

/// What a program that has ended left.
public struct ProcessResult: Sendable {
    public var status: ExitStatus
    public var output: String
    /// What it wrote to standard error. If it was killed at its time limit, what its threads did then comes after that.
    public var errors: String

    /// The exit code; nil if a signal ended it.
    public var exitCode: Int32? {
        if case .code(let code) = status { code } else { nil }
    }

    public var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs a program to its end.
/// - Parameter timeout: after it the program is killed, and its status is ``ExitStatus/killed``.
public func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    timeout: Duration = .seconds(300)
) async throws -> ProcessResult {
    try await withTemporaryFolder { scratch in
        let child = try ChildProcess(
            program, arguments, environment: environment, output: "\(scratch)/output",
            errors: "\(scratch)/errors")
        let status = await child.wait(atMost: timeout)
        var errors = try Files.text("\(scratch)/errors")
        if case .killed = status { errors += "\(errors.isEmpty || errors.hasSuffix("\n") ? "" : "\n")\(status)\n" }
        return ProcessResult(status: status, output: try Files.text("\(scratch)/output"), errors: errors)
    }
}

/// Runs a program that a test cannot do without; anything but exit code 0 is an error.
@discardableResult public func mustRun(
    _ program: String, _ arguments: [String] = [], timeout: Duration = .seconds(300)
) async throws -> String {
    let result = try await run(program, arguments, timeout: timeout)
    guard result.exitCode == 0 else {
        throw SetupError("\(program) \(arguments.joined(separator: " ")): \(result.status)\n\(result.errors)")
    }
    return result.output
}

/// Where things of the package under test lie.
public enum Build {
    /// The package's root.
    public static let root: String = {
        var folder = #filePath[...]
        for _ in 0..<4 { folder = folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)] }
        return String(folder)
    }()

    /// The built executable that the tests run: `LARDER_TEST_BIN`, else the debug build's.
    public static var larder: String {
        get throws {
            let path = ProcessInfo.processInfo.environment["LARDER_TEST_BIN"] ?? "\(root)/.build/debug/larder"
            guard access(path, X_OK) == 0 else {
                throw SetupError("no executable at \(path): `swift build` makes it, or set LARDER_TEST_BIN")
            }
            return path
        }
    }

    /// The user number that a test which runs as root gives its programs, to see what rights do.
    public static let unprivilegedUser: uid_t = 65534
    public static var isRoot: Bool { geteuid() == 0 }
}

/// The `larder` command, run as a person would.
public struct LarderCommand: Sendable {
    public var config: String
    /// The home of the person: everything that the command keeps outside of what the config names.
    public var home: String
    /// As `Build.unprivilegedUser` rather than as the test's own user; needs root.
    public var unprivileged = false
    public var environment: [String: String] = [:]
    /// Whether the event loops that come with the host are at work. Most tests are about files, and count requests.
    public var hasLoops = false
    /// A program and its arguments that runs the command in its turn, such as `strace`.
    public var wrapper: [String] = []

    public init(config: String, home: String) {
        self.config = config
        self.home = home
    }

    /// Runs `larder --config … ARGUMENTS` to its end.
    public func callAsFunction(_ arguments: String..., timeout: Duration = .seconds(300)) async throws -> ProcessResult
    {
        try await run(arguments, timeout: timeout)
    }

    public func run(_ arguments: [String], timeout: Duration = .seconds(300)) async throws -> ProcessResult {
        let (program, all) = try command(arguments)
        return try await TestSupport.run(program, all, environment: surroundings, timeout: timeout)
    }

    /// Starts the command; the caller stops it.
    public func start(_ arguments: [String], output: String? = nil, errors: String? = nil) throws -> ChildProcess {
        let (program, all) = try command(arguments)
        return try ChildProcess(program, all, environment: surroundings, output: output, errors: errors)
    }

    private func command(_ arguments: [String]) throws -> (String, [String]) {
        let all = ["--config", config] + arguments
        if let program = wrapper.first { return (program, wrapper.dropFirst() + [try Build.larder] + all) }
        guard unprivileged else { return (try Build.larder, all) }
        let user = "\(Build.unprivilegedUser)"
        return ("setpriv", ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--", try Build.larder] + all)
    }

    private var surroundings: [String: String] {
        var all = [
            "HOME": home, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        all["XDG_RUNTIME_DIR"] = home
        if !hasLoops {
            for loop in ["CORE", "CALENDAR", "SHARE"] { all["LARDER_PLUGINS_\(loop)_LOOP_ENABLED"] = "false" }
        }
        all.merge(environment) { $1 }
        return all
    }
}
