import DemoServer
import TestServer
import TestSupport
import Testing

/// What servers do wrong with calendars, and what is kept all the same.
@Suite struct CalendarFaultsTests {
    /// An account whose server has the calendar `Work` with three objects.
    private struct Kept {
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

        /// What is kept of the calendar differs from what the server has; none if it is the same.
        func differences() throws -> [String] {
            let served = server.calendars.objects(in: "work") ?? [:]
            guard Files.isFolder("\(folder)/Work") else { return ["no folder"] }
            let kept = try Files.names(in: "\(folder)/Work")
            let wrong = try kept.filter { try served[$0].map { Array($0.utf8) } != Files.read("\(folder)/Work/\($0)") }
            return wrong + served.keys.filter { !kept.contains($0) }.map { "missing: \($0)" }
        }

        /// Runs once, after which something waits for a person.
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

        /// How many objects are kept as files.
        func count(_ calendar: String = "Work") throws -> Int { try Files.names(in: "\(folder)/\(calendar)").count }

        func folders() throws -> [String] {
            try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") }.sorted()
        }
    }

    private func keeping(
        _ manner: (inout CalendarManner) -> Void = { _ in }, _ body: (Kept) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        manner(&configuration.manner.calendars)
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                var account = try Account(in: folder, server)
                account.larder.hasLoops = true
                server.calendars.make("work", name: "Work")
                let kept = Kept(server: server, account: account)
                for name in ["a", "b", "c"] { kept.put(name) }
                try await body(kept)
            }
        }
    }

    @Test("K08: a change is seen within three cycles of a server that takes a token of which it knows nothing")
    func stall() async throws {
        try await keeping { kept in
            let backup = kept.server.calendars.backup()
            for name in ["d", "e", "f"] { kept.put(name) }
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            // The server's past is another one now; it gives the future token back.
            kept.server.calendars.restore(backup)
            kept.put("a", "changed")
            for _ in 0..<3 { try await kept.runOnce() }
            #expect(try kept.differences() == [])
            // What changed is cleared from its log.
            kept.put("b", "changed")
            kept.put("g")
            kept.server.calendars.forgetChanges(in: "work")
            for _ in 0..<3 { try await kept.runOnce() }
            #expect(try kept.differences() == [])
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
                // One for the calendars' list, once more if other news came with it, and one for the calendars.
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
        try await keeping { kept in
            try await kept.runOnce()
            kept.put("d")
            kept.put("bad", "no \u{1} XML")
            kept.put("e")
            for _ in 0..<2 {
                let ran = try await kept.account.larder("run", "--once")
                #expect(ran.exitCode == 1, "\(ran.summary)")
                #expect(ran.errors.contains("\(kept.path)bad.ics of the calendar"), "\(ran.summary)")
                #expect(try kept.differences() == ["missing: bad.ics"])
            }
            kept.put("f")
            #expect(try await kept.account.larder("run", "--once").exitCode == 1)
            #expect(try kept.differences() == ["missing: bad.ics"])
            kept.put("bad", "well")
            try await kept.runOnce()
            #expect(try kept.differences() == [])
        }
    }

    @Test("A calendar that was made anew between two runs is as the server has it", arguments: [2, 3, 7])
    func madeAnew(_ count: Int) async throws {
        try await keeping { kept in
            try await kept.runOnce()
            kept.server.calendars.remove("work")
            kept.server.calendars.make("work", name: "Work")
            for number in 0..<count { kept.put("new \(number)") }
            for _ in 0..<2 { try await kept.runOnce() }
            #expect(try kept.differences() == [])
            // Nothing is left in doubt.
            kept.server.forgetRequests()
            try await kept.runOnce()
            #expect(kept.server.requests.count { $0.path == kept.path } == 1)
        }
    }

    @Test("K05: what a server gives in parts, or not at all at once, is had whole in one run")
    func inParts() async throws {
        try await keeping({ $0.pageSize = 2 }) { kept in
            for index in 0..<9 { kept.put("part \(index)") }
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            for index in 0..<9 { kept.put("part \(index)", "changed") }
            kept.server.calendars.remove("a.ics", from: "work")
            try await kept.runOnce()
            #expect(try kept.differences() == [])

            kept.put("b", "changed")
            let fault = kept.server.add(Fault(.status(507), method: "REPORT", path: kept.path))
            for _ in 0..<2 { try await kept.runOnce() }
            #expect(try kept.differences() == [])
            kept.server.remove(fault)
            kept.put("b", "changed again")
            for _ in 0..<2 { try await kept.runOnce() }
            #expect(try kept.differences() == [])
        }
    }

    @Test("K06: a server that loses what is beyond a limit is never asked with one")
    func limits() async throws {
        try await keeping({ $0.limit = .silentlyCut }) { kept in
            for index in 0..<150 { kept.put("many \(index)") }
            try await kept.runOnce()
            for index in 0..<150 { kept.put("many \(index)", "changed") }
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            let bodies = kept.server.requests.filter { $0.method == "REPORT" }.compactMap(\.body)
            #expect(bodies.count > 2 && bodies.allSatisfy { !$0.contains("limit") })
        }
    }

    @Test("K04: a token refused with whatever status leads to a listing", arguments: [400, 403, 409, 410, 412])
    func refusedToken(_ status: Int) async throws {
        try await keeping({
            $0.lostTokens = .refused
            $0.invalidTokenStatus = status
        }) { kept in
            try await kept.runOnce()
            kept.put("a", "changed")
            kept.server.calendars.remove("b.ics", from: "work")
            kept.server.calendars.forgetChanges(in: "work")
            try await kept.runOnce()
            #expect(try kept.differences() == [])
        }
    }

    @Test("K04: a refusal that is not about the token is an error, and what is kept stays")
    func forbidden() async throws {
        try await keeping { kept in
            try await kept.runOnce()
            let fault = kept.server.add(Fault(.refusal(403, precondition: nil), path: kept.path))
            let refused = try await kept.account.larder("run", "--once")
            #expect(refused.exitCode == 77 && refused.errors.contains(kept.path), "\(refused.summary)")
            #expect(try kept.differences() == [])
            kept.server.remove(fault)
            kept.put("a", "changed")
            try await kept.runOnce()
            #expect(try kept.differences() == [])
        }
    }

    @Test(
        "D01 D04: the home is found behind a redirect of any status, and only calendars in it",
        arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        try await keeping({
            $0.wellKnownStatus = status
            $0.addresses = status == 302 ? .whole : status == 303 ? .relative : .path
        }) { kept in
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            #expect(try kept.folders() == ["Work"])
        }
    }

    @Test("D05: a listing of calendars that fails or breaks off removes none")
    func brokenListing() async throws {
        try await keeping { kept in
            kept.server.calendars.make("other", name: "Other")
            try await kept.runOnce()
            for kind in [Fault.Kind.status(500), .truncatedListing, .emptyListing, .page, .status(404)] {
                let fault = kept.server.add(Fault(kind, method: "PROPFIND", path: kept.home))
                let ran = try await kept.account.larder("run", "--once")
                #expect(ran.exitCode != 0, "\(kind)\n\(ran.summary)")
                #expect(try kept.folders() == ["Other", "Work"], "\(kind)")
                #expect(try kept.differences() == [], "\(kind)")
                kept.server.remove(fault)
            }
            kept.server.calendars.remove("other")
            try await kept.runOnce()
            #expect(try kept.folders() == ["Work"])
        }
    }

    @Test("L24: a calendar that is gone is asked no more in the cycle in which the core loop sees it")
    func goneInCycle() async throws {
        try await keeping { kept in
            kept.server.calendars.make("other", name: "Other")
            try await kept.runOnce()
            let path = kept.server.calendars.path("other")
            kept.server.forgetRequests()
            try await kept.runOnce()
            #expect(kept.server.requests.contains { $0.path == path })
            kept.server.calendars.remove("other")
            kept.server.forgetRequests()
            try await kept.runOnce()
            #expect(!kept.server.requests.contains { $0.path == path })
            #expect(kept.server.requests.contains { $0.path == kept.path })
            #expect(try await !kept.account.larder("loop", "list").output.contains(path))
        }
    }

    @Test("L36: a home without any calendar any more waits for a person, or for the calendars to be back")
    func noCalendars() async throws {
        try await keeping { kept in
            kept.server.calendars.make("other", name: "Other")
            try await kept.runOnce()
            let backup = kept.server.calendars.backup()
            for id in ["work", "other"] { kept.server.calendars.remove(id) }
            for _ in 0..<2 {
                let said = try await kept.runHeld()
                #expect(said.contains("The server has 2 of 2 calendars no longer: "), "\(said)")
                #expect(said.contains("Work (3 objects)"), "\(said)")
                #expect(try kept.folders() == ["Other", "Work"])
                #expect(try kept.count() == 3)
            }
            try await kept.resolve("wait")
            _ = try await kept.runHeld()
            kept.server.calendars.restore(backup)
            try await kept.runOnce()
            #expect(try await kept.account.larder("issue", "list").output.contains("calendar.removals") == false)
            #expect(try kept.differences() == [])

            for id in ["work", "other"] { kept.server.calendars.remove(id) }
            _ = try await kept.runHeld()
            try await kept.resolve("apply")
            try await kept.runOnce()
            #expect(try kept.folders() == [])
            #expect(try await !kept.account.larder("loop", "list").output.contains("calendar:"))
        }
    }

    @Test(
        "L36: a calendar with twenty objects that is listed no longer waits for a person, and others follow the server")
    func fullCalendar() async throws {
        try await keeping { kept in
            kept.server.calendars.make("other", name: "Other")
            for number in 0..<17 { kept.put("\(number)") }
            try await kept.runOnce()
            kept.server.calendars.remove("work")
            kept.server.calendars.put("x.ics", CalendarAccount.event("x"), in: "other")
            kept.server.calendars.make("third", name: "Third")
            let said = try await kept.runHeld()
            #expect(said.contains("1 of 3 calendars no longer: Work (20 objects)"), "\(said)")
            #expect(try kept.folders() == ["Other", "Third", "Work"])
            #expect(try kept.count() == 20)
            #expect(try kept.count("Other") == 1)
            try await kept.resolve("apply")
            try await kept.runOnce()
            #expect(try kept.folders() == ["Other", "Third"])
        }
    }

    @Test("L36: an emptied calendar waits for a person; what is new and changed in it comes", arguments: [true, false])
    func emptied(_ syncCollection: Bool) async throws {
        try await keeping({ $0.syncCollection = syncCollection }) { kept in
            for number in 0..<30 { kept.put("\(number)") }
            try await kept.runOnce()
            for number in 0..<30 { kept.server.calendars.remove("\(number).ics", from: "work") }
            kept.put("a", "changed")
            kept.put("new")
            for _ in 0..<2 {
                let said = try await kept.runHeld()
                #expect(said.contains("The server has 30 of 34 objects of the calendar Work no longer: "), "\(said)")
                #expect(try kept.count() == 34)
            }
            #expect(try Files.text("\(kept.account.vault)/calendars/Work/a.ics").contains("changed"))
            kept.put("newer")
            _ = try await kept.runHeld()
            #expect(try kept.count() == 35)
            try await kept.resolve("apply")
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            #expect(try kept.count() == 5)
        }
    }

    @Test("L36 P57: what goes in parts counts together; `removal-guard: off` never asks")
    func parts() async throws {
        try await keeping({ $0.pageSize = 4 }) { kept in
            for number in 0..<30 { kept.put("\(number)") }
            try await kept.runOnce()
            for number in 0..<30 { kept.server.calendars.remove("\(number).ics", from: "work") }
            let said = try await kept.runHeld()
            #expect(said.contains("that went in the last 24 hours"), "\(said)")
            #expect(try (12...20).contains(kept.count()))
            let config = try Files.text(kept.account.larder.config)
            try Files.write(config + "\nremoval-guard: off\n", to: kept.account.larder.config, mode: 0o600)
            try await kept.runOnce()
            #expect(try kept.differences() == [])
        }
    }

    @Test("K11: a server without sync tokens comes to the same")
    func withoutSync() async throws {
        try await keeping({ $0.syncCollection = false }) { kept in
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            kept.put("a", "changed")
            kept.put("d")
            kept.server.calendars.remove("b.ics", from: "work")
            try await kept.runOnce()
            #expect(try kept.differences() == [])
            #expect(!kept.server.requests.contains { $0.body?.contains("sync-collection>") == true })
        }
    }
}
