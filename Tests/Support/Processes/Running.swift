import FoundationEssentials
public import Glibc

/// The status and the output of a program that has ended.
public struct ProcessResult: Sendable {
    public var status: ExitStatus
    /// The text that the program wrote to standard output.
    public var output: String
    /// The text that the program wrote to standard error. If the program was killed at its time limit, a description of
    /// its threads at that moment follows.
    public var errors: String

    /// The exit code; nil if a signal ended the program.
    public var exitCode: Int32? {
        if case .code(let code) = status { code } else { nil }
    }

    /// The lines of standard output, without empty ones.
    public var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs a program to its end.
/// - Parameter timeout: the time after which the program is killed and its status is ``ExitStatus/killed``.
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
        // A server in this process that does not answer is the tests' fault.
        if errors.contains("took too long to answer while asking for status.php") { errors += ThreadReport.ofServers }
        return ProcessResult(status: status, output: try Files.text("\(scratch)/output"), errors: errors)
    }
}

/// Runs a program that a test depends on.
/// - Returns: the program's standard output.
/// - Throws: `SetupError` unless the program ends with exit code 0.
@discardableResult public func mustRun(
    _ program: String, _ arguments: [String] = [], timeout: Duration = .seconds(300)
) async throws -> String {
    let result = try await run(program, arguments, timeout: timeout)
    guard result.exitCode == 0 else {
        throw SetupError("\(program) \(arguments.joined(separator: " ")): \(result.status)\n\(result.errors)")
    }
    return result.output
}

/// The locations of the package under test and of its build.
public enum Build {
    /// The package's root.
    public static let root: String = {
        var folder = #filePath[...]
        for _ in 0..<4 { folder = folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)] }
        return String(folder)
    }()

    /// The built executable that the tests run: `LARDER_TEST_BIN`, or else that of the debug build.
    public static var larder: String {
        get throws {
            let path = ProcessInfo.processInfo.environment["LARDER_TEST_BIN"] ?? "\(root)/.build/debug/larder"
            guard access(path, X_OK) == 0 else {
                throw SetupError("no executable at \(path): `swift build` makes it, or set LARDER_TEST_BIN")
            }
            return path
        }
    }

    /// The user id that a test running as root gives its programs, to check the effect of permissions.
    public static let unprivilegedUser: uid_t = 65534
    /// Whether the test runs as root.
    public static var isRoot: Bool { geteuid() == 0 }
}

/// The `larder` command, run as a person would run it.
public struct LarderCommand: Sendable {
    /// The path of the command's config.
    public var config: String
    /// The person's home folder. It holds everything that the command keeps outside the locations in the config.
    public var home: String
    /// Whether the command runs as `Build.unprivilegedUser` instead of the test's own user. This needs root.
    public var unprivileged = false
    /// Additional environment variables, which take precedence over the command's usual ones.
    public var environment: [String: String] = [:]
    /// Whether the event loops that come with the host run. Most tests are about files and count requests.
    public var hasLoops = false
    /// A program and its arguments that in turn runs the command, such as `strace`.
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

    /// Runs the command with these arguments to its end.
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
