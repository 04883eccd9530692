/// A CalDAV and CardDAV server of another project, running on 127.0.0.1, with one user's calendars and address books.
public struct CalendarServer: Sendable {
    /// The server programs that tests can start.
    public enum Program: String, CaseIterable, Sendable {
        case radicale, xandikos
    }

    /// The options for starting a server.
    public struct Options: Sendable {
        /// The user who owns the calendars. Radicale asks for the password; Xandikos lets everybody in.
        public var user: (name: String, password: String) = ("ada", "correct horse")
        /// The age in seconds at which Radicale drops a sync token; nil is Radicale's own default of 30 days.
        public var maxSyncTokenAge: Int?

        public init() {}
    }

    /// A calendar or an address book on the server.
    public struct Calendar: Hashable, Sendable {
        /// Its path on the server, with a closing slash, as in the server's own hrefs.
        public let path: String
    }

    public let program: Program
    /// The folder in which the server keeps the calendars.
    public let data: String
    public let port: UInt16
    /// The server's address, with a closing slash.
    public let url: String
    public let user: (name: String, password: String)
    /// The folder of the server's own files.
    let run: String

    /// The path below which calendars are made.
    public var home: String {
        switch program {
        case .radicale: "/\(user.name)/"
        case .xandikos: "/\(user.name)/calendars/"
        }
    }

    /// The path below which address books are made.
    public var addressBookHome: String {
        switch program {
        case .radicale: home
        case .xandikos: "/\(user.name)/contacts/"
        }
    }

    /// Returns the folder of a calendar's objects.
    func folder(of calendar: Calendar) -> String {
        switch program {
        case .radicale: "\(data)/collection-root\(calendar.path.dropLast())"
        case .xandikos: "\(data)\(calendar.path.dropLast())"
        }
    }
}

/// Starts a calendar server over the folder `data`, waits until the server accepts connections, and stops it when the
/// scope ends, however it ends.
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
