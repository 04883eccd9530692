import Glibc

extension CalendarServer {
    /// Starts Radicale from PyPI.
    func startRadicale(_ options: Options) throws -> ChildProcess {
        let environment = try PythonEnvironment.holding("radicale")
        try Files.write("\(user.name):\(user.password)\n", to: "\(run)/passwords", mode: 0o600)
        let age = options.maxSyncTokenAge.map { "max_sync_token_age = \($0)" } ?? ""
        try Files.write(
            """
            [server]
            hosts = 127.0.0.1:\(port)
            [auth]
            type = htpasswd
            htpasswd_filename = \(run)/passwords
            htpasswd_encryption = plain
            delay = 0
            [storage]
            filesystem_folder = \(data)
            \(age)
            [logging]
            level = info

            """, to: "\(run)/radicale.conf")
        return try ChildProcess(
            "\(environment)/bin/python", ["-m", "radicale", "--config", "\(run)/radicale.conf"],
            output: "\(run)/server.log", errors: "\(run)/server.log")
    }

    /// Gives Radicale's user another password. A running server notices the change.
    public func setPassword(_ password: String) throws {
        try Files.write("\(user.name):\(password)\n", to: "\(run)/passwords", mode: 0o600)
    }

    /// Removes Radicale's history of a calendar, as moving its storage does. Every sync token is invalid then.
    public func removeCache(of calendar: Calendar) { Files.remove("\(folder(of: calendar))/.Radicale.cache") }

    /// Makes all of a calendar's sync tokens older by `seconds`, as if they had been unused for that time.
    ///
    /// When a client syncs after a change, Radicale removes the tokens past their age, except the token that this
    /// client used.
    public func age(_ calendar: Calendar, bySeconds seconds: Int) throws {
        let tokens = "\(folder(of: calendar))/.Radicale.cache/sync-token"
        for name in try Files.names(in: tokens) {
            var info = stat()
            guard lstat("\(tokens)/\(name)", &info) == 0 else { throw SetupError(call: "lstat", path: tokens) }
            let time = timeval(tv_sec: info.st_mtim.tv_sec - seconds, tv_usec: 0)
            guard utimes("\(tokens)/\(name)", [time, time]) == 0 else { throw SetupError(call: "utimes", path: tokens) }
        }
    }
}

extension LoggedRequest {
    /// Reads a line such as `[…] [INFO] PUT response status for '/ada/work/a.ics' in 0.01 seconds …: 201 Created`.
    init?(radicale line: some StringProtocol) {
        let quoted = line.split(separator: "'", omittingEmptySubsequences: false)
        guard quoted.count > 2, quoted[0].hasSuffix(" response status for "),
            let method = quoted[0].dropLast(" response status for ".count).split(separator: " ").last,
            let status = line.split(separator: ": ").last?.split(separator: " ").first.flatMap({ Int($0) })
        else { return nil }
        self.init(method: String(method), target: quoted[1], status: status)
    }
}
