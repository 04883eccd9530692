import FoundationEssentials
import Glibc

/// A WebDAV server that is not ours, running on 127.0.0.1 over a folder.
public struct RealServer: Sendable {
    /// The programs that there are starters for.
    public enum Program: String, CaseIterable, Sendable {
        case apache, rclone, wsgidav
    }

    /// How a server is to be started.
    public struct Options: Sendable {
        /// Asks for Basic authentication with this name and password; nil lets everybody in.
        public var user: (name: String, password: String)?
        /// Whether `Depth: infinity` is granted; Apache alone can be told.
        public var depthInfinity = false
        /// A certificate and its key, PEM files, to speak TLS with; Apache alone.
        public var certificate: Certificate?

        public init() {}
    }

    public let program: Program
    /// The folder that is served.
    public let data: String
    public let port: UInt16
    /// The address of the served folder, with a closing slash.
    public let url: String
    /// Where the server keeps its own files.
    let run: String

    /// What the server was asked so far, oldest first. Apache alone keeps such a log.
    public func requests() async throws -> [LoggedRequest] {
        guard program == .apache else { throw SetupError("\(program) keeps no access log") }
        let text = try await settledLog("\(run)/access.log")
        return text.split(separator: "\n").compactMap { LoggedRequest(line: $0) }
    }

    /// Empties the log of requests.
    public func forgetRequests() async throws {
        _ = try await requests()
        guard truncate("\(run)/access.log", 0) == 0 else { throw SetupError(call: "truncate", path: run) }
    }

    /// Gives all served files to the user whom the server runs as, after a test wrote some itself.
    public func handOverData() async throws {
        if program == .apache, Build.isRoot { try await mustRun("chown", ["-R", "www-data:www-data", data]) }
    }

    /// Writes a file into the served folder.
    /// - Parameter modified: its modification time in seconds since 1970; nil leaves it at now.
    public func put(_ path: String, _ text: String, modified: Int? = nil) async throws {
        let full = "\(data)/\(path)"
        try Files.write(text, to: full)
        if let modified {
            let time = timeval(tv_sec: modified, tv_usec: 0)
            guard utimes(full, [time, time]) == 0 else { throw SetupError(call: "utimes", path: full) }
        }
    }
}

/// Starts a server over the folder `data`, waits until it accepts connections, and stops it when the scope ends,
/// however it ends.
///
/// A program that is missing is an error that names what installs it: the test fails, it is not skipped.
public func withServer<Result>(
    _ program: RealServer.Program, data: String, options: RealServer.Options = .init(),
    isolation: isolated (any Actor)? = #isolation, _ body: (RealServer) async throws -> Result
) async throws -> Result {
    try await withListening("\(program)") { (port, run) async throws in
        let scheme = options.certificate == nil ? "http" : "https"
        let server = RealServer(
            program: program, data: data, port: port, url: "\(scheme)://127.0.0.1:\(port)/", run: run)
        try await server.handOverData()
        return (server, try await server.start(options))
    } body: { server async throws in
        try await body(server)
    }
}

extension RealServer {
    fileprivate func start(_ options: Options) async throws -> ChildProcess {
        switch program {
        case .apache: try await startApache(options)
        case .rclone: try startRclone(options)
        case .wsgidav: try startWsgiDAV(options)
        }
    }
    /// `rclone serve webdav`.
    private func startRclone(_ options: Options) throws -> ChildProcess {
        guard access("/usr/bin/rclone", X_OK) == 0 else { throw missing("rclone", debian: "rclone") }
        var arguments = [
            "--config", "/dev/null", "serve", "webdav", data, "--addr", "127.0.0.1:\(port)", "--dir-cache-time", "1ms",
            "--log-file", "\(run)/server.log",
        ]
        if let user = options.user { arguments += ["--user", user.name, "--pass", user.password] }
        return try ChildProcess("/usr/bin/rclone", arguments)
    }
}
