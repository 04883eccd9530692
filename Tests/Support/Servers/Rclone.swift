import Glibc

extension RealServer {
    /// `rclone serve webdav`.
    func startRclone(_ options: Options) throws -> ChildProcess {
        guard access("/usr/bin/rclone", X_OK) == 0 else { throw missing("rclone", debian: "rclone") }
        var arguments = [
            "--config", "/dev/null", "serve", "webdav", data, "--addr", "127.0.0.1:\(port)", "--dir-cache-time", "1ms",
            "--log-file", "\(run)/server.log",
        ]
        if let user = options.user { arguments += ["--user", user.name, "--pass", user.password] }
        return try ChildProcess("/usr/bin/rclone", arguments)
    }
}
