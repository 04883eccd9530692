extension CalendarServer {
    /// Starts Xandikos from PyPI, with the user's principal and home.
    func startXandikos() throws -> ChildProcess {
        let environment = try PythonEnvironment.holding("xandikos")
        return try ChildProcess(
            "\(environment)/bin/python",
            [
                "-m", "xandikos", "serve", "-d", data, "-l", "127.0.0.1", "-p", "\(port)", "--current-user-principal",
                "/\(user.name)/", "--defaults",
            ], output: "\(run)/server.log", errors: "\(run)/server.log")
    }

    /// Replaces a calendar by an empty one. For Xandikos this is a new repository, without the old repository's trees,
    /// which are the sync tokens.
    public func replace(_ calendar: Calendar, displayName: String? = nil) async throws {
        try await remove(calendar)
        let name = calendar.path.dropFirst(home.count).dropLast()
        _ = try await makeCalendar(String(name), displayName: displayName)
    }
}

extension LoggedRequest {
    /// Reads a line of the combined log format: `… "METHOD TARGET VERSION" STATUS …`.
    init?(combined line: some StringProtocol) {
        let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard quoted.count > 2 else { return nil }
        let request = quoted[1].split(separator: " ")
        guard request.count == 3, let status = quoted[2].split(separator: " ").first.flatMap({ Int($0) }) else {
            return nil
        }
        self.init(method: String(request[0]), target: request[1], status: status)
    }
}
