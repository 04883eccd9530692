import TestSupport
import Testing

/// An account on a server that keeps calendars and no files.
@Suite struct NoFilesTests {
    @Test(
        "L33: a calendar server is an account without items, whatever of it the url names",
        arguments: CalendarServer.Program.allCases)
    func noItems(_ program: CalendarServer.Program) async throws {
        try await withTemporaryFolder { folder in
            try await withCalendarServer(program, data: "\(folder)/data") { server in
                let calendar = try await server.makeCalendar("work")
                for (index, path) in ["/", "/ada/", server.home, calendar.path].enumerated() {
                    let account = try Account(
                        in: "\(folder)/\(index)", url: server.url + path.dropFirst(), user: server.user.name,
                        password: server.user.password)
                    let ran = try await account.larder("run", "--once")
                    #expect(ran.exitCode == 0, "\(path)\n\(ran.summary)")
                    let listed = try await account.larder("ls")
                    #expect(listed.exitCode == 0 && listed.output.isEmpty, "\(path)\n\(listed.summary)")
                    let localFiles = try account.localFiles()
                    #expect(localFiles.isEmpty)
                }
            }
        }
    }
}
