import DemoServer
import TestServer
import TestSupport
import Testing

/// Faults of servers in calendars, and the objects that are kept nevertheless.
@Suite struct CalendarFaultsTests {
    /// An account whose server has the calendar `Work` with three objects.
    private struct Fixture {
        let server: TestServer
        let account: Account

        var path: String { server.calendars.path("work") }
        var home: String { String(path.dropLast("work/".count)) }
        private var folder: String { "\(account.vault)/calendars" }

        func put(_ name: String, _ summary: String = "none") {
            let text = CalendarAccount.event(name, summary: summary)
            let lines = text.split(separator: "\n").map { "\($0)\r\n" }.joined()
            server.calendars.put("\(name).ics", lines, in: "work")
        }

        func runOnce(_ place: SourceLocation = #_sourceLocation) async throws {
            let ran = try await account.larder("run", "--once")
            #expect(ran.exitCode == 0, "\(ran.summary)", sourceLocation: place)
        }

        /// Returns the files of the calendar that differ from the server's objects; empty if there is no difference.
        func differences() throws -> [String] {
            let served = server.calendars.objects(in: "work") ?? [:]
            guard Files.isFolder("\(folder)/Work") else { return ["no folder"] }
            let kept = try Files.names(in: "\(folder)/Work")
            let wrong = try kept.filter { try served[$0].map { Array($0.utf8) } != Files.read("\(folder)/Work/\($0)") }
            return wrong + served.keys.filter { !kept.contains($0) }.map { "missing: \($0)" }
        }

        /// Runs once, and expects that an issue about removed calendar objects then waits for a person.
        func runHeld(_ place: SourceLocation = #_sourceLocation) async throws -> String {
            let ran = try await account.larder("run", "--once")
            #expect(ran.exitCode == 1, "\(ran.summary)", sourceLocation: place)
            let issues = try await account.larder("--json", "issue", "list")
            #expect(issues.lines.count == 1, "\(issues.summary)", sourceLocation: place)
            #expect(issues.output.contains(#""code":"calendar.removals""#), sourceLocation: place)
            return ran.errors
        }

        func resolve(_ choice: String, _ place: SourceLocation = #_sourceLocation) async throws {
            let resolved = try await account.larder("issue", "resolve", "--all", "--code", "calendar.removals", choice)
            #expect(resolved.exitCode == 0, "\(resolved.summary)", sourceLocation: place)
        }

        /// Returns the number of objects that are kept as files.
        func count(_ calendar: String = "Work") throws -> Int { try Files.names(in: "\(folder)/\(calendar)").count }

        func folders() throws -> [String] {
            try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") }.sorted()
        }
    }

    private func keeping(
        _ manner: (inout CalendarManner) -> Void = { _ in }, _ body: (Fixture) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        manner(&configuration.manner.calendars)
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                var account = try Account(in: folder, server)
                account.larder.hasLoops = true
                server.calendars.make("work", name: "Work")
                let fixture = Fixture(server: server, account: account)
                for name in ["a", "b", "c"] { fixture.put(name) }
                try await body(fixture)
            }
        }
    }

    @Test("K08: a change is seen within three cycles of a server that takes a token of which it knows nothing")
    func stall() async throws {
        try await keeping { fixture in
            let backup = fixture.server.calendars.backup()
            for name in ["d", "e", "f"] { fixture.put(name) }
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            // The server was restored from a backup, so its history differs. It returns the future token that the
            // client sent.
            fixture.server.calendars.restore(backup)
            fixture.put("a", "changed")
            for _ in 0..<3 { try await fixture.runOnce() }
            #expect(try fixture.differences() == [])
            // The server's log of changes is cleared.
            fixture.put("b", "changed")
            fixture.put("g")
            fixture.server.calendars.forgetChanges(in: "work")
            for _ in 0..<3 { try await fixture.runOnce() }
            #expect(try fixture.differences() == [])
        }
    }

    @Test("K14 H1: a 401 on the calendars alone is their loops' issue; files go on", arguments: [true, false])
    func calendarsRefused(isFamily: Bool) async throws {
        var configuration = TestServer.Configuration()
        if !isFamily { (configuration.manner.statusDocument, configuration.manner.ownCloudProperties) = (false, false) }
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                var account = try Account(in: folder, server)
                account.larder.hasLoops = true
                for name in ["work", "home"] {
                    server.calendars.make(name, name: name)
                    server.calendars.put("a.ics", CalendarAccount.event("a"), in: name)
                }
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")

                server.tree.put("/new.txt", "new")
                let home = String(server.calendars.path("work").dropLast("work/".count))
                let fault = server.add(Fault(.status(401), path: home, below: true))
                let before = server.requests.count
                let refused = try await account.larder("run", "--once")
                #expect(refused.exitCode == 77, "\(refused.summary)")
                #expect(try account.text("new.txt") == "new")
                // One 401 answers the request for the list of calendars, and one a request for the calendars. The list
                // is requested a second time if other news came with it.
                #expect((2...3).contains(server.requests.dropFirst(before).count { $0.status == 401 }))
                let issues = try await account.larder("--json", "issue", "list")
                #expect(issues.lines.count == 2 && issues.output.contains("loop.refused"), "\(issues.summary)")
                #expect(issues.output.contains("calendar:\(server.calendars.path("work"))"), "\(issues.summary)")
                #expect(!issues.output.contains("connection.authentication"))

                server.remove(fault)
                server.calendars.put("b.ics", CalendarAccount.event("b"), in: "work")
                let last = try await account.larder("run", "--once")
                #expect(last.exitCode == 0, "\(last.summary)")
                #expect(Files.exists("\(account.vault)/calendars/work/b.ics"))
                #expect(try await account.larder("issue", "list").output.contains("loop.refused") == false)
            }
        }
    }

    @Test("One object with a byte that is no XML keeps no other away; it is named, and comes once it is well")
    func brokenObject() async throws {
        try await keeping { fixture in
            try await fixture.runOnce()
            fixture.put("d")
            fixture.put("bad", "no \u{1} XML")
            fixture.put("e")
            for _ in 0..<2 {
                let ran = try await fixture.account.larder("run", "--once")
                #expect(ran.exitCode == 1, "\(ran.summary)")
                #expect(ran.errors.contains("\(fixture.path)bad.ics of the calendar"), "\(ran.summary)")
                #expect(try fixture.differences() == ["missing: bad.ics"])
            }
            fixture.put("f")
            #expect(try await fixture.account.larder("run", "--once").exitCode == 1)
            #expect(try fixture.differences() == ["missing: bad.ics"])
            fixture.put("bad", "well")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
        }
    }

    @Test("A calendar that was made anew between two runs is as the server has it", arguments: [2, 3, 7])
    func madeAnew(_ count: Int) async throws {
        try await keeping { fixture in
            try await fixture.runOnce()
            fixture.server.calendars.remove("work")
            fixture.server.calendars.make("work", name: "Work")
            for number in 0..<count { fixture.put("new \(number)") }
            for _ in 0..<2 { try await fixture.runOnce() }
            #expect(try fixture.differences() == [])
            // Nothing is left open: the next run asks for the calendar only once.
            fixture.server.forgetRequests()
            try await fixture.runOnce()
            #expect(fixture.server.requests.count { $0.path == fixture.path } == 1)
        }
    }

    @Test("K05: what a server gives in parts, or not at all at once, is had whole in one run")
    func inParts() async throws {
        try await keeping({ $0.pageSize = 2 }) { fixture in
            for index in 0..<9 { fixture.put("part \(index)") }
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            for index in 0..<9 { fixture.put("part \(index)", "changed") }
            fixture.server.calendars.remove("a.ics", from: "work")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])

            fixture.put("b", "changed")
            let fault = fixture.server.add(Fault(.status(507), method: "REPORT", path: fixture.path))
            for _ in 0..<2 { try await fixture.runOnce() }
            #expect(try fixture.differences() == [])
            fixture.server.remove(fault)
            fixture.put("b", "changed again")
            for _ in 0..<2 { try await fixture.runOnce() }
            #expect(try fixture.differences() == [])
        }
    }

    @Test("K06: a server that loses what is beyond a limit is never asked with one")
    func limits() async throws {
        try await keeping({ $0.limit = .silentlyCut }) { fixture in
            for index in 0..<150 { fixture.put("many \(index)") }
            try await fixture.runOnce()
            for index in 0..<150 { fixture.put("many \(index)", "changed") }
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            let bodies = fixture.server.requests.filter { $0.method == "REPORT" }.compactMap(\.body)
            #expect(bodies.count > 2 && bodies.allSatisfy { !$0.contains("limit") })
        }
    }

    @Test("K04: a token refused with whatever status leads to a listing", arguments: [400, 403, 409, 410, 412])
    func refusedToken(_ status: Int) async throws {
        try await keeping({
            $0.lostTokens = .refused
            $0.invalidTokenStatus = status
        }) { fixture in
            try await fixture.runOnce()
            fixture.put("a", "changed")
            fixture.server.calendars.remove("b.ics", from: "work")
            fixture.server.calendars.forgetChanges(in: "work")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
        }
    }

    @Test("K04: a refusal that is not about the token is an error, and what is kept stays")
    func forbidden() async throws {
        try await keeping { fixture in
            try await fixture.runOnce()
            let fault = fixture.server.add(Fault(.refusal(403, precondition: nil), path: fixture.path))
            let refused = try await fixture.account.larder("run", "--once")
            #expect(refused.exitCode == 77 && refused.errors.contains(fixture.path), "\(refused.summary)")
            #expect(try fixture.differences() == [])
            fixture.server.remove(fault)
            fixture.put("a", "changed")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
        }
    }

    @Test(
        "D01 D04: the home is found behind a redirect of any status, and only calendars in it",
        arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        try await keeping({
            $0.wellKnownStatus = status
            $0.addresses = status == 302 ? .whole : status == 303 ? .relative : .path
        }) { fixture in
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            #expect(try fixture.folders() == ["Work"])
        }
    }

    @Test("D05: a listing of calendars that fails or breaks off removes none")
    func brokenListing() async throws {
        try await keeping { fixture in
            fixture.server.calendars.make("other", name: "Other")
            try await fixture.runOnce()
            for kind in [Fault.Kind.status(500), .truncatedListing, .emptyListing, .page, .status(404)] {
                let fault = fixture.server.add(Fault(kind, method: "PROPFIND", path: fixture.home))
                let ran = try await fixture.account.larder("run", "--once")
                #expect(ran.exitCode != 0, "\(kind)\n\(ran.summary)")
                #expect(try fixture.folders() == ["Other", "Work"], "\(kind)")
                #expect(try fixture.differences() == [], "\(kind)")
                fixture.server.remove(fault)
            }
            fixture.server.calendars.remove("other")
            try await fixture.runOnce()
            #expect(try fixture.folders() == ["Work"])
        }
    }

    @Test("L24: a calendar that is gone is asked no more in the cycle in which the core loop sees it")
    func goneInCycle() async throws {
        try await keeping { fixture in
            fixture.server.calendars.make("other", name: "Other")
            try await fixture.runOnce()
            let path = fixture.server.calendars.path("other")
            fixture.server.forgetRequests()
            try await fixture.runOnce()
            #expect(fixture.server.requests.contains { $0.path == path })
            fixture.server.calendars.remove("other")
            fixture.server.forgetRequests()
            try await fixture.runOnce()
            #expect(!fixture.server.requests.contains { $0.path == path })
            #expect(fixture.server.requests.contains { $0.path == fixture.path })
            #expect(try await !fixture.account.larder("loop", "list").output.contains(path))
        }
    }

    @Test("L36: a home without any calendar any more waits for a person, or for the calendars to be back")
    func noCalendars() async throws {
        try await keeping { fixture in
            fixture.server.calendars.make("other", name: "Other")
            try await fixture.runOnce()
            let backup = fixture.server.calendars.backup()
            for id in ["work", "other"] { fixture.server.calendars.remove(id) }
            for _ in 0..<2 {
                let said = try await fixture.runHeld()
                #expect(said.contains("The server no longer has 2 of 2 calendars: "), "\(said)")
                #expect(said.contains("Work (3 objects)"), "\(said)")
                #expect(try fixture.folders() == ["Other", "Work"])
                #expect(try fixture.count() == 3)
            }
            try await fixture.resolve("wait")
            _ = try await fixture.runHeld()
            fixture.server.calendars.restore(backup)
            try await fixture.runOnce()
            #expect(try await fixture.account.larder("issue", "list").output.contains("calendar.removals") == false)
            #expect(try fixture.differences() == [])

            for id in ["work", "other"] { fixture.server.calendars.remove(id) }
            _ = try await fixture.runHeld()
            try await fixture.resolve("apply")
            try await fixture.runOnce()
            #expect(try fixture.folders() == [])
            #expect(try await !fixture.account.larder("loop", "list").output.contains("calendar:"))
        }
    }

    @Test(
        "L36: a calendar with twenty objects that is listed no longer waits for a person, and others follow the server")
    func fullCalendar() async throws {
        try await keeping { fixture in
            fixture.server.calendars.make("other", name: "Other")
            for number in 0..<17 { fixture.put("\(number)") }
            try await fixture.runOnce()
            fixture.server.calendars.remove("work")
            fixture.server.calendars.put("x.ics", CalendarAccount.event("x"), in: "other")
            fixture.server.calendars.make("third", name: "Third")
            let said = try await fixture.runHeld()
            #expect(said.contains("The server no longer has 1 of 3 calendars: Work (20 objects)"), "\(said)")
            #expect(try fixture.folders() == ["Other", "Third", "Work"])
            #expect(try fixture.count() == 20)
            #expect(try fixture.count("Other") == 1)
            try await fixture.resolve("apply")
            try await fixture.runOnce()
            #expect(try fixture.folders() == ["Other", "Third"])
        }
    }

    @Test("L36: an emptied calendar waits for a person; what is new and changed in it comes", arguments: [true, false])
    func emptied(_ syncCollection: Bool) async throws {
        try await keeping({ $0.syncCollection = syncCollection }) { fixture in
            for number in 0..<30 { fixture.put("\(number)") }
            try await fixture.runOnce()
            for number in 0..<30 { fixture.server.calendars.remove("\(number).ics", from: "work") }
            fixture.put("a", "changed")
            fixture.put("new")
            for _ in 0..<2 {
                let said = try await fixture.runHeld()
                #expect(said.contains("The server no longer has 30 of 34 objects of the calendar Work: "), "\(said)")
                #expect(try fixture.count() == 34)
            }
            #expect(try Files.text("\(fixture.account.vault)/calendars/Work/a.ics").contains("changed"))
            fixture.put("newer")
            _ = try await fixture.runHeld()
            #expect(try fixture.count() == 35)
            try await fixture.resolve("apply")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            #expect(try fixture.count() == 5)
        }
    }

    @Test("L36 P57: what goes in parts counts together; `removal-guard: off` never asks")
    func parts() async throws {
        try await keeping({ $0.pageSize = 4 }) { fixture in
            for number in 0..<30 { fixture.put("\(number)") }
            try await fixture.runOnce()
            for number in 0..<30 { fixture.server.calendars.remove("\(number).ics", from: "work") }
            let said = try await fixture.runHeld()
            #expect(said.contains("that were removed in the last 24 hours"), "\(said)")
            #expect(try (12...20).contains(fixture.count()))
            let config = try Files.text(fixture.account.larder.config)
            try Files.write(config + "\nremoval-guard: off\n", to: fixture.account.larder.config, mode: 0o600)
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
        }
    }

    @Test("K11: a server without sync tokens comes to the same")
    func withoutSync() async throws {
        try await keeping({ $0.syncCollection = false }) { fixture in
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            fixture.put("a", "changed")
            fixture.put("d")
            fixture.server.calendars.remove("b.ics", from: "work")
            try await fixture.runOnce()
            #expect(try fixture.differences() == [])
            #expect(!fixture.server.requests.contains { $0.body?.contains("sync-collection>") == true })
        }
    }
}
