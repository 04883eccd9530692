import DemoServer
import TestSupport
import Testing

/// Calendars that a server of somebody's own tells of in plain JSON.
@Suite struct EventsEndpointTests {
    @Test("L30: calendars and what is in them come, change and go by the pages of an events endpoint")
    func calendars() async throws {
        try await withTemporaryFolder { folder in
            try await DemoServer.running { server in
                server.behave { $0.events = true }
                server.events.open("core")
                var account = try Account(
                    in: folder, server,
                    settings: ["plugins:", "  core-loop: { events: { url: \"\(server.url)/events\" } }"])
                account.larder.hasLoops = true
                func run(_ place: SourceLocation = #_sourceLocation) async throws {
                    let result = try await account.larder("run", "--once")
                    #expect(result.exitCode == 0, "\(result.summary)", sourceLocation: place)
                }
                func said(_ words: String...) async throws -> String { try await account.larder.run(words).output }

                try await run()
                #expect(try await said("--json", "calendar", "list").isEmpty)

                server.events.open("calendar/c1")
                server.events.add(
                    .init(#""Calendars":[{"ID":"c1","Action":1,"Calendar":{"ID":"c1","Name":"Team"}}],"Unknown":[1]"#),
                    to: "core")
                try await run()
                #expect(try await said("--json", "calendar", "list").contains(#""name":"Team""#))

                server.events.add(
                    .init(
                        #""CalendarEvents":[{"ID":"e1","Action":1,"Event":{"ID":"e1","UID":"u1","StartTime":1772359200,"EndTime":1772362800,"FullDay":0,"RRule":null}}]"#
                    ), to: "calendar/c1")
                try await run()
                #expect(try await said("--json", "calendar", "objects", "Team").contains(#""uid":"u1""#))

                server.events.add(.init(#""CalendarEvents":[{"ID":"e1","Action":0}]"#), to: "calendar/c1")
                try await run()
                #expect(try await said("--json", "calendar", "objects", "Team").isEmpty)

                server.events.add(.init(#""Calendars":[{"ID":"c1","Action":0}]"#), to: "core")
                try await run()
                #expect(try await said("--json", "calendar", "list").isEmpty)
                #expect(try await !said("loop", "list").contains("calendar"))
            }
        }
    }
}
