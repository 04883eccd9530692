import FoundationEssentials
import Glibc

/// A WebDAV server of another project, running on 127.0.0.1 over a folder.
public struct RealServer: Sendable {
    /// The server programs that tests can start.
    public enum Program: String, CaseIterable, Sendable {
        case apache, rclone, wsgidav, nginx
    }

    /// The options for starting a server.
    public struct Options: Sendable {
        /// A kind of login.
        public enum Login: Sendable {
            case basic
            /// Digest, with the seconds that a nonce is good for. WsgiDAV's are good for ever.
            case digest(lifetime: Int = 300)
        }

        /// The name and password that the server requires; nil lets everybody in.
        public var user: (name: String, password: String)?
        /// The kind of login with which the server requires them. rclone and nginx have Basic only.
        public var login = Login.basic
        /// Whether the server grants `Depth: infinity`. Apache is the only program that takes this option.
        public var depthInfinity = false
        /// A certificate and its key, PEM files, for TLS. Apache is the only program that takes this option.
        public var certificate: Certificate?
        /// The authority that must have signed the certificate of each client; nil lets clients in without one.
        public var clientAuthority: Certificate?
        /// Whether the server speaks nothing newer than TLS 1.2. Of Apache alone.
        public var hasOldTLS = false

        /// The pace of each answer, in units of 1,024 bytes a second; nil sets none. Apache is the only program that takes
        /// this option.
        public var kilobytesPerSecond: Int?

        public init() {}
    }

    public let program: Program
    /// The folder that the server serves.
    public let data: String
    public let port: UInt16
    /// The address of the served folder, with a closing slash.
    public let url: String
    /// The folder of the server's own files.
    let run: String

    /// Returns the requests that the server has logged so far, oldest first. Apache is the only program with such a
    /// log.
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

    /// Gives all served files to the user that the server runs as, after a test has written files itself.
    public func handOverData() async throws {
        if [.apache, .nginx].contains(program), Build.isRoot {
            try await mustRun("chown", ["-R", "www-data:www-data", data])
        }
    }

    /// Writes a file into the served folder.
    /// - Parameter modified: the file's modification time in seconds since 1970; nil keeps the time of writing.
    public func put(_ path: String, _ text: String, modified: Int? = nil) async throws {
        let full = "\(data)/\(path)"
        try Files.write(text, to: full)
        if let modified {
            let time = timeval(tv_sec: modified, tv_usec: 0)
            guard utimes(full, [time, time]) == 0 else { throw SetupError(call: "utimes", path: full) }
        }
    }
}

/// Starts a server over the folder `data`, waits until the server accepts connections, and stops it when the scope
/// ends, however it ends.
///
/// A missing program is an error that names the command that installs the program: the test fails and is not skipped.
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
        case .nginx: try await startNginx(options)
        }
    }

    /// Starts `rclone serve webdav`.
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
