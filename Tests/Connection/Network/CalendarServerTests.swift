import Logging
import Model
import TestSupport
import Testing

@testable import Connection

struct CalendarServerTests {
    private static func connected(
        _ program: CalendarServer.Program, _ body: (CalendarServer, Connection) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withCalendarServer(program, data: "\(folder)/data") { server in
                let connection = Connection(
                    bookmark: .at(server.url, username: server.user.name),
                    credentials: .basic(username: server.user.name, password: server.user.password),
                    logger: Logger(label: "test"))
                try await closing(connection) { try await body(server, connection) }
            }
        }
    }

    @Test("D01, D03: the home is found on real servers, and what is in it", arguments: CalendarServer.Program.allCases)
    func discovers(_ program: CalendarServer.Program) async throws {
        try await Self.connected(program) { server, connection in
            let calendar = try await server.makeCalendar("new-work", displayName: "Work & more")
            let found = try #require(try await connection.loopRequests.discover(.caldav))
            #expect(found.homes == [server.home] && found.principal == "/ada/")
            let names = ["{DAV:}resourcetype", "{DAV:}displayname", "{DAV:}sync-token", "{DAV:}supported-report-set"]
            let answer = try await connection.loopRequests.multistatus(
                MultistatusRequest("PROPFIND", found.homes[0], depth: .one, properties: names))
            var calendars: [MultistatusResponse] = []
            while let response = try await answer.next() {
                if response.values[0]?.contains("{urn:ietf:params:xml:ns:caldav}calendar") == true {
                    calendars.append(response)
                }
            }
            let mine = try #require(calendars.first { $0.values[1] == "Work & more" })
            let path = try ServerAddress(server.url).normalizedPath(of: calendar.path)
            #expect(mine.href == path && mine.href.hasSuffix("/new-work/"))
            #expect(mine.values[2]?.isEmpty == false)
            #expect(mine.values[3]?.split(separator: "\n").contains("{DAV:}sync-collection") == true)
        }
    }

    @Test(
        "D01, D03: the home of the address books is found on real servers, and what is in it",
        arguments: CalendarServer.Program.allCases)
    func addressBooks(_ program: CalendarServer.Program) async throws {
        try await Self.connected(program) { server, connection in
            let book = try await server.makeAddressBook("friends", displayName: "Friends & more")
            let found = try #require(try await connection.loopRequests.discover(.carddav))
            #expect(found.homes == [server.addressBookHome] && found.principal == "/ada/")
            #expect(try await connection.loopRequests.discover(.caldav)?.homes == [server.home])
            let answer = try await connection.loopRequests.multistatus(
                MultistatusRequest(
                    "PROPFIND", found.homes[0], depth: .one, properties: ["{DAV:}resourcetype", "{DAV:}displayname"]))
            var names: [String: String] = [:]
            while let response = try await answer.next() {
                guard response.values[0]?.contains("{urn:ietf:params:xml:ns:carddav}addressbook") == true else {
                    continue
                }
                names[response.href] = response.values[1]
            }
            #expect(names[book.path] == "Friends & more")
        }
    }

    @Test(
        "K13, K03: a sync-collection of a real server is read, and its token is good for the next",
        arguments: CalendarServer.Program.allCases)
    func syncs(_ program: CalendarServer.Program) async throws {
        try await Self.connected(program) { server, connection in
            let calendar = try await server.makeCalendar("work")
            func sync(_ token: String) async throws -> (hrefs: [String], end: MultistatusEnd) {
                let body = """
                    <?xml version="1.0"?><sync-collection xmlns="DAV:"><sync-token>\(token)</sync-token>\
                    <sync-level>1</sync-level><prop><getetag/></prop></sync-collection>
                    """
                let answer = try await connection.loopRequests.multistatus(
                    MultistatusRequest("REPORT", calendar.path, body: Array(body.utf8), properties: [Sync.etag]))
                var hrefs: [String] = []
                while let response = try await answer.next() { hrefs.append(response.href) }
                return (hrefs, try #require(await answer.end))
            }
            let first = try await sync("")
            #expect(first.hrefs.isEmpty && first.end.syncToken?.isEmpty == false)
            let event =
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261121T100000Z\r\n"
                + "DTSTART:20261121T100000Z\r\nSUMMARY:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
            let put = try await connection.loopRequests.exchange(
                PlainRequest(
                    "PUT", calendar.path + "1.ics", headers: [("Content-Type", "text/calendar")],
                    body: Array(event.utf8)))
            #expect((200..<300).contains(put.status))
            await put.close()
            let second = try await sync(first.end.syncToken ?? "")
            #expect(second.hrefs == [calendar.path + "1.ics"] && second.end.syncToken != first.end.syncToken)
            let wrong = try await sync("http://radicale.org/ns/sync/nonsense")
            #expect(wrong.end.errors.contains("{DAV:}valid-sync-token"))
        }
    }
}
