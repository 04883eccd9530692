import FoundationEssentials
import TestSupport
import Testing

/// A person's account on a calendar server, with event loops that poll.
struct CalendarAccount {
    let server: CalendarServer
    var account: Account

    /// Makes the account.
    /// - Parameter folder: a folder of the account's own.
    init(in folder: String, _ server: CalendarServer, password: String? = nil) throws {
        self.server = server
        account = try Account(
            in: folder, url: server.url, user: server.user.name, password: password ?? server.user.password,
            settings: ["poll: 1s", "plugins:", "  core-loop: { interval: 1s }"])
        account.larder.hasLoops = true
    }

    /// Runs once and expects exit code 0.
    /// - Returns: the requests that the server got during the run.
    @discardableResult func runOnce(_ place: SourceLocation = #_sourceLocation) async throws -> [LoggedRequest] {
        let before = try await server.requests().count
        let ran = try await account.larder("run", "--once")
        #expect(ran.exitCode == 0, "\(ran.summary)", sourceLocation: place)
        return try await Array(server.requests().dropFirst(before))
    }

    /// Returns the folder in which a calendar is kept as files.
    func folder(_ name: String) -> String { "\(account.vault)/calendars/\(name)" }

    /// Returns the names of the calendars that are kept as files.
    func folders() throws -> [String] {
        let folder = "\(account.vault)/calendars"
        return Files.exists(folder) ? try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") } : []
    }

    /// Returns the names of the files of a calendar that differ from the server's objects; empty if there is no
    /// difference.
    /// - Parameter names: the names of all objects that the server has, in the form of its hrefs.
    func differences(_ name: String, from calendar: CalendarServer.Calendar, _ names: [String]) async throws -> [String]
    {
        var served: [String: [UInt8]] = [:]
        for (name, content) in try await server.contents(of: names, in: calendar) {
            served[LoggedRequest.decoded(name)] = content
        }
        guard Files.isFolder(folder(name)) else { return ["no folder"] }
        let kept = try Files.names(in: folder(name))
        let wrong = try kept.filter { try served[$0] != Files.read("\(folder(name))/\($0)") }
        return wrong + served.keys.filter { !kept.contains($0) }.map { "missing: \($0)" }
    }

    /// Returns the number of objects that are kept of each calendar, by the calendar's name, as the command prints
    /// them.
    func listed() async throws -> [String: Int] {
        struct Line: Decodable {
            var name: String
            var objects: Int
        }
        let result = try await account.larder("--json", "calendar", "list")
        #expect(result.exitCode == 0, "\(result.summary)")
        let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        return Dictionary(lines.map { ($0.name, $0.objects) }) { $0 + $1 }
    }

    static func event(_ uid: String, summary: String? = nil) -> String {
        """
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Larder//Tests//EN
        BEGIN:VEVENT
        UID:\(uid)
        DTSTAMP:20260101T000000Z
        DTSTART:20260102T100000Z
        SUMMARY:\(summary ?? uid)
        END:VEVENT
        END:VCALENDAR

        """
    }
}
