import TestServer
import TestSupport
import Testing

/// Calendars of a self-made server that reports them in plain JSON.
@Suite struct EventsEndpointTests {
    @Test("L30: calendars and what is in them come, change and go by the pages of an events endpoint")
    func calendars() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.behave { $0.events = true }
                server.events.open("core")
                server.events.list([], in: "core")
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

                server.events.list([], in: "calendar/c1")
                server.events.add(
                    .init(#""Calendars":[{"ID":"c1","Action":1,"Calendar":{"ID":"c1","Name":"Team"}}],"Unknown":[1]"#),
                    to: "core")
                try await run()
                #expect(try await said("--json", "calendar", "list").contains(#""name":"Team""#))

                server.events.add(
                    .init(
                        """
                        "CalendarEvents":[{"ID":"e1","Action":1,"Event":{"ID":"e1","UID":"u1",\
                        "StartTime":1772359200,"EndTime":1772362800,"FullDay":0,"RRule":null}}]
                        """
                    ), to: "calendar/c1")
                try await run()
                #expect(try await said("--json", "calendar", "objects", "Team").contains(#""uid":"u1""#))

                server.events.add(.init(#""CalendarEvents":[{"ID":"e1","Action":0}]"#), to: "calendar/c1")
                try await run()
                #expect(try await said("--json", "calendar", "objects", "Team").isEmpty)

                server.events.add(.init(#""Calendars":[{"ID":"c1","Action":0}]"#), to: "core")
                // The only calendar is removed after a person has confirmed its removal.
                #expect(try await account.larder("run", "--once").exitCode == 1)
                _ = try await said("issue", "resolve", "--all", "--code", "calendar.removals", "apply")
                try await run()
                #expect(try await said("--json", "calendar", "list").isEmpty)
                #expect(try await !said("loop", "list").contains("calendar"))
            }
        }
    }

    @Test(
        "L37: a refresh lists what there is and drops what is gone; a server without listings is named, and exit code 1"
    )
    func refresh() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.behave { $0.events = true }
                func list(calendars: [String], events: [String]) {
                    server.events.list(calendars.map { #"{"ID":"\#($0)","Name":"\#($0)"}"# }, in: "core")
                    server.events.list(
                        events.map { #"{"ID":"\#($0)","UID":"\#($0)","StartTime":1772359200}"# }, in: "calendar/c1")
                }
                var account = try Account(
                    in: folder, server,
                    settings: ["plugins:", "  core-loop: { events: { url: \"\(server.url)/events\" } }"])
                account.larder.hasLoops = true
                func said(_ words: String...) async throws -> String { try await account.larder.run(words).output }
                func folders() throws -> [String] {
                    let folder = "\(account.vault)/calendars"
                    return try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") }.sorted()
                }

                server.events.open("core")
                let refused = try await account.larder("run", "--once")
                #expect(refused.exitCode == 1, "\(refused.summary)")
                #expect(refused.errors.contains("/events has no listing at calendar/v1"), "\(refused.summary)")

                list(calendars: ["c1", "c2"], events: ["e1", "e2"])
                server.events.list([], in: "calendar/c2")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                #expect(try folders() == ["c1", "c2"])
                #expect(try await account.larder.run(["--json", "calendar", "objects", "c1"]).lines.count == 2)

                // No page reports the changes that happened meanwhile.
                list(calendars: ["c1", "c3"], events: ["e2", "e3", "e4"])
                server.events.list([], in: "calendar/c3")
                for channel in ["core", "calendar/c1"] {
                    server.events.add(.init(), to: channel)
                    server.events.forgetPages(of: channel)
                }
                let ran = try await account.larder("run", "--once")
                #expect(ran.exitCode == 0, "\(ran.summary)")
                #expect(try folders() == ["c1", "c3"])
                let objects = try await said("--json", "calendar", "objects", "c1")
                #expect(!objects.contains(#""uid":"e1""#) && objects.contains(#""uid":"e4""#), "\(objects)")
            }
        }
    }
}
