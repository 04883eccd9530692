/// A CalDAV server that is not ours, running on 127.0.0.1, with one user's calendars.
public struct CalendarServer: Sendable {
    /// The programs that there are starters for.
    public enum Program: String, CaseIterable, Sendable {
        case radicale, xandikos
    }

    /// How a server is to be started.
    public struct Options: Sendable {
        /// Whose calendars they are. Radicale asks for the password, Xandikos lets everybody in.
        public var user: (name: String, password: String) = ("ada", "correct horse")
        /// The age in seconds at which Radicale drops a sync token; nil is its own default of 30 days.
        public var maxSyncTokenAge: Int?

        public init() {}
    }

    /// A calendar that was made.
    public struct Calendar: Hashable, Sendable {
        /// Its path on the server, with a closing slash, as the server's own hrefs have it.
        public let path: String
    }

    public let program: Program
    /// The folder that the calendars are kept in.
    public let data: String
    public let port: UInt16
    /// The server's address, with a closing slash.
    public let url: String
    public let user: (name: String, password: String)
    /// Where the server keeps its own files.
    let run: String

    /// The path that calendars are made below.
    public var home: String {
        switch program {
        case .radicale: "/\(user.name)/"
        case .xandikos: "/\(user.name)/calendars/"
        }
    }

    /// The folder of a calendar's objects.
    func folder(of calendar: Calendar) -> String {
        switch program {
        case .radicale: "\(data)/collection-root\(calendar.path.dropLast())"
        case .xandikos: "\(data)\(calendar.path.dropLast())"
        }
    }
}

/// Starts a calendar server over the folder `data`, waits until it accepts connections, and stops it when the scope ends,
/// however it ends.
public func withCalendarServer<Result>(
    _ program: CalendarServer.Program, data: String, options: CalendarServer.Options = .init(),
    isolation: isolated (any Actor)? = #isolation, _ body: (CalendarServer) async throws -> Result
) async throws -> Result {
    try Files.makeFolder(data)
    return try await withListening("\(program)") { (port, run) async throws in
        let server = CalendarServer(
            program: program, data: data, port: port, url: "http://127.0.0.1:\(port)/", user: options.user, run: run)
        switch program {
        case .radicale: return (server, try server.startRadicale(options))
        case .xandikos: return (server, try server.startXandikos())
        }
    } body: { server async throws in
        try await body(server)
    }
}
