import TestSupport
import Testing

/// The calendar servers that other tests rely on. They start, answer and stop, and they can be brought into states that
/// clients have trouble with.
@Suite(.serialized) struct CalendarServersTests {
    @Test("a calendar server keeps calendars, logs requests, and is gone", arguments: CalendarServer.Program.allCases)
    func serves(_ program: CalendarServer.Program) async throws {
        try await withTemporaryFolder { folder in
            let port = try await withCalendarServer(program, data: "\(folder)/data dir") { server in
                let work = try await server.makeCalendar("work", displayName: "Work & <more>")
                try await server.put(["a.ics": event("a"), "b%20%C3%A4.ics": event("b")], into: work)
                try await server.remove("a.ics", from: work)
                try await server.rename(work, to: "Renamed")
                let listing = try await propfind(server.home, server)
                #expect(listing.contains(">Renamed<"))
                let objects = try await propfind(work.path, server)
                #expect(objects.contains("b%20%C3%A4.ics") && !objects.contains("a.ics"))
                let requests = try await server.requests()
                #expect(
                    requests.map(\.method) == [
                        "MKCALENDAR", "PUT", "PUT", "DELETE", "PROPPATCH", "PROPFIND", "PROPFIND",
                    ])
                #expect(requests[2].path == "\(work.path)b ä.ics" && requests[2].status == 201)
                try await server.remove(work)
                let after = try await propfind(server.home, server)
                #expect(!after.contains(work.path))
                return server.port
            }
            // The system may have given the port to a server of another test, and a child process may have the socket
            // for a moment.
            #expect(await until { !LoopbackPort.isOpen(port) })
        }
    }

    @Test("Radicale forgets its tokens: without its cache, or those that are past their age")
    func radicaleTokens() async throws {
        try await withTemporaryFolder { folder in
            try await withCalendarServer(.radicale, data: "\(folder)/data") { server in
                let work = try await server.makeCalendar("work")
                try await server.put("a.ics", event("a"), into: work)
                let token = try await sync(work, "", server).token
                server.removeCache(of: work)
                #expect(try await sync(work, token, server).body.contains("valid-sync-token"))

                // Two clients have the same token. The first client that syncs after a change invalidates the token for
                // the second.
                let old = try await sync(work, "", server).token
                try await server.put("b.ics", event("b"), into: work)
                try server.age(work, bySeconds: 40 * 86_400)
                let first = try await sync(work, old, server)
                #expect(first.body.contains("b.ics") && first.token != old)
                #expect(try await sync(work, old, server).body.contains("valid-sync-token"))
            }
        }
    }

    @Test("a calendar of Xandikos whose repository is another knows no old token")
    func xandikosTokens() async throws {
        try await withTemporaryFolder { folder in
            try await withCalendarServer(.xandikos, data: "\(folder)/data") { server in
                let work = try await server.makeCalendar("work")
                try await server.put("a.ics", event("a"), into: work)
                let token = try await sync(work, "", server).token
                try await server.replace(work)
                try await server.put("b.ics", event("b"), into: work)
                let refused = try await sync(work, token, server)
                #expect(refused.status == 412 && refused.body.contains("valid-sync-token"))
                let whole = try await sync(work, "", server)
                #expect(whole.body.contains("b.ics") && !whole.body.contains("a.ics"))
            }
        }
    }

    private func event(_ uid: String) -> String {
        """
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Larder//Tests//EN
        BEGIN:VEVENT
        UID:\(uid)
        DTSTAMP:20260101T000000Z
        DTSTART:20260102T100000Z
        SUMMARY:\(uid)
        END:VEVENT
        END:VCALENDAR

        """
    }

    private func propfind(_ path: String, _ server: CalendarServer) async throws -> String {
        try await ask(
            "PROPFIND", path, ["Depth: 1"],
            #"<propfind xmlns="DAV:"><prop><displayname/><resourcetype/></prop></propfind>"#, server
        ).body
    }

    private func sync(
        _ calendar: CalendarServer.Calendar, _ token: String, _ server: CalendarServer
    ) async throws -> (status: Int, body: String, token: String) {
        let answer = try await ask(
            "REPORT", calendar.path, ["Depth: 0"],
            """
            <sync-collection xmlns="DAV:"><sync-token>\(token)</sync-token><sync-level>1</sync-level><prop><getetag/>\
            </prop></sync-collection>
            """, server)
        let after = answer.body.split(separator: "sync-token>").dropFirst().first
        return (answer.status, answer.body, String(after?.prefix { $0 != "<" } ?? ""))
    }

    private func ask(
        _ method: String, _ path: String, _ fields: [String], _ body: String, _ server: CalendarServer
    ) async throws -> (status: Int, body: String) {
        let arguments = [
            "-sS", "-X", method, "-u", "\(server.user.name):\(server.user.password)", "-d", body, "-w",
            "\n%{http_code}",
            "-H", "Content-Type: application/xml",
        ]
        let output = try await mustRun(
            "curl", arguments + fields.flatMap { ["-H", $0] } + [server.url + path.dropFirst()])
        let status = Int(output.split(separator: "\n").last ?? "") ?? 0
        return (status, output)
    }
}
