import FoundationEssentials
import TestSupport
import Testing

/// A person's account on a calendar server, with the event loops at work.
struct CalendarAccount {
    let server: CalendarServer
    var account: Account

    /// - Parameter folder: one of the account's own.
    init(in folder: String, _ server: CalendarServer, password: String? = nil) throws {
        self.server = server
        account = try Account(
            in: folder, url: server.url, user: server.user.name, password: password ?? server.user.password,
            settings: ["poll: 1s", "plugins:", "  core-loop: { interval: 1s }"])
        account.larder.hasLoops = true
    }

    /// Runs once to the end, which must be a good one.
    /// - Returns: what the server was asked meanwhile.
    @discardableResult func runOnce(_ place: SourceLocation = #_sourceLocation) async throws -> [LoggedRequest] {
        let before = try await server.requests().count
        let ran = try await account.larder("run", "--once")
        #expect(ran.exitCode == 0, "\(ran.summary)", sourceLocation: place)
        return try await Array(server.requests().dropFirst(before))
    }

    /// The folder in which a calendar is kept as files.
    func folder(_ name: String) -> String { "\(account.vault)/calendars/\(name)" }

    /// The names of the calendars that are kept as files.
    func folders() throws -> [String] {
        let folder = "\(account.vault)/calendars"
        return Files.exists(folder) ? try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") } : []
    }

    /// What is kept of a calendar differs from what the server has: names of files; none if it is the same.
    /// - Parameter names: all objects that the server has, as its hrefs have them.
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

    /// What the command says of each calendar: its name and how many objects are kept.
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
