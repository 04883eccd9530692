import Glibc
import TestSupport

/// Larder as `Host/install` puts it into a folder, from the build that is tested.
struct Installation {
    /// The prefix.
    var prefix: String
    var larder: String { "\(prefix)/bin/larder" }

    /// Installs.
    init(in prefix: String) async throws {
        self.prefix = prefix
        let result = try await Self.install(["--prefix", prefix])
        guard result.exitCode == 0 else { throw SetupError("Host/install: \(result.summary)") }
    }

    /// Runs `Host/install` with these arguments, to install what was built with the program that is tested.
    static func install(_ arguments: [String]) async throws -> ProcessResult {
        let program = try Build.larder
        let build = program[..<(program.lastIndex(of: "/") ?? program.startIndex)]
        return try await TestSupport.run("\(Build.root)/Host/install", arguments + ["--from", String(build)])
    }

    /// Runs a program to its end in a folder, without a variable that says where an SDK is.
    func run(
        _ program: String, _ arguments: [String] = [], in folder: String, environment: [String: String] = [:]
    ) async throws -> ProcessResult {
        try await TestSupport.run(
            "env",
            ["-u", "LARDER_SDK", "-u", "PKG_CONFIG_PATH", "-C", folder] + environment.map { "\($0.key)=\($0.value)" }
                + [program] + arguments)
    }
}
