import DemoServer
import TestServer

/// A client that queries a server's calendars as a calendar program does.
struct CalendarClient {
    let calendars: Calendars
    private let client: Client

    init(_ server: TestServer) { (calendars, client) = (server.calendars, Client(server)) }

    init(_ server: DemoServer) { (calendars, client) = (server.calendars, Client(server)) }

    func callAsFunction(
        _ method: String, _ path: String, _ fields: [String] = [], body: String? = nil, more: [String] = []
    ) async throws -> Client.Reply {
        try await client(method, "/" + path, fields, body: body, more: more)
    }

    /// Sends a PROPFIND request.
    /// - Parameter names: The names of the wanted properties, written as elements with the prefixes `C` and `S`.
    func find(_ path: String, depth: Int = 0, _ names: String) async throws -> Client.Reply {
        try await self(
            "PROPFIND", path, ["Depth: \(depth)"],
            body: """
                <propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/">\
                <prop>\(names)</prop></propfind>
                """)
    }

    /// Asks a calendar for its changes.
    /// - Parameter token: The sync token, already escaped.
    func sync(_ calendar: String, _ token: String = "", limit: Int? = nil) async throws -> Client.Reply {
        let limit = limit.map { "<limit><nresults>\($0)</nresults></limit>" } ?? ""
        return try await self(
            "REPORT", calendars.path(calendar), ["Depth: 0"],
            body: """
                <?xml version="1.0"?>
                <sync-collection xmlns="DAV:"><sync-token>\(token)</sync-token><sync-level>1</sync-level>\(limit)<prop>\
                <getetag/></prop></sync-collection>
                """)
    }
}

extension Client.Reply {
    /// The sync token, still escaped.
    var token: String { body.contents(of: "d:sync-token").last ?? "" }

    /// The last part of each entry's address, followed by the entry's own status. Entries with properties have no
    /// status.
    var members: [String] {
        body.contents(of: "d:response").map { response in
            let name = response.contents(of: "d:href").first?.split(separator: "/").last.map(String.init) ?? ""
            guard !response.contains("<d:propstat>") else { return name }
            return name + " " + (response.contents(of: "d:status").first?.split(separator: " ")[1] ?? "")
        }
    }
}

/// Returns an event with its own name.
func event(_ uid: String) -> String {
    [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Larder//Tests//EN", "BEGIN:VEVENT", "UID:\(uid)",
        "DTSTAMP:20260101T000000Z", "DTSTART:20260102T100000Z", "SUMMARY:\(uid)", "END:VEVENT", "END:VCALENDAR", "",
    ].joined(separator: "\r\n")
}
