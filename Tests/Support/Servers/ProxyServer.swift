import Glibc

/// A proxy of another project, running on 127.0.0.1.
public struct ProxyServer: Sendable {
    /// The proxy programs that tests can start.
    public enum Program: String, CaseIterable, Sendable {
        /// tinyproxy, for HTTP.
        case http
        /// microsocks, for SOCKS5.
        case socks5
    }

    public let port: UInt16
    private let file: String

    /// The lines that the proxy has logged so far.
    public func log() async throws -> String { try await settledLog(file) }

    fileprivate init(port: UInt16, log file: String) { (self.port, self.file) = (port, file) }
}

/// Starts a proxy, waits until it accepts connections, and stops it when the scope ends, however it ends.
/// - Parameters:
///   - login: the name and password that the proxy requires; nil lets everybody in.
///   - connectPort: the only port that the HTTP proxy connects to by CONNECT; nil allows all.
public func withProxy<Result>(
    _ program: ProxyServer.Program, login: (name: String, password: String)? = nil, connectPort: Int? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (ProxyServer) async throws -> Result
) async throws -> Result {
    try await withListening("\(program) proxy") { (port, run) async throws in
        let log = "\(run)/server.log"
        let (path, package) =
            program == .http ? ("/usr/bin/tinyproxy", "tinyproxy-bin") : ("/usr/bin/microsocks", "microsocks")
        guard access(path, X_OK) == 0 else {
            throw SetupError("\(path) is not installed: ./Tests/run installs it (apt-get install \(package))")
        }
        var arguments: [String]
        switch program {
        case .http:
            var lines = ["Port \(port)", "Listen 127.0.0.1", "Allow 127.0.0.1", "MaxClients 100", "LogLevel Connect"]
            if let login { lines.append("BasicAuth \(login.name) \(login.password)") }
            if let connectPort { lines.append("ConnectPort \(connectPort)") }
            try Files.write(lines.joined(separator: "\n") + "\n", to: "\(run)/tinyproxy.conf")
            arguments = ["-d", "-c", "\(run)/tinyproxy.conf"]
        case .socks5:
            arguments = ["-i", "127.0.0.1", "-p", "\(port)"]
            if let login { arguments += ["-u", login.name, "-P", login.password] }
        }
        return (ProxyServer(port: port, log: log), try ChildProcess(path, arguments, output: log, errors: log))
    } body: { proxy async throws in
        try await body(proxy)
    }
}
