import DemoServer
import TestSupport
import Testing

/// What servers do wrong with calendars, and what is kept all the same.
@Suite struct CalendarFaultsTests {
    /// An account whose server has the calendar `Work` with three objects.
    private struct Kept {
        let server: DemoServer
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

        func folders() throws -> [String] {
            try Files.names(in: folder).filter { Files.isFolder("\(folder)/\($0)") }.sorted()
        }
    }

    private func keeping(
        _ manner: (inout CalendarManner) -> Void = { _ in }, _ body: (Kept) async throws -> Void
    ) async throws {
        var configuration = DemoServer.Configuration()
        manner(&configuration.manner.calendars)
        try await withTemporaryFolder { folder in
            try await DemoServer.running(configuration) { server in
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

    @Test("K05: what a server gives in parts, or not at all at once, is had whole in one run")
    func parts() async throws {
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
            let fault = kept.server.add(Fault(.refusal(403, precondition: nil), method: "REPORT", path: kept.path))
            let refused = try await kept.account.larder("run", "--once")
            #expect(refused.exitCode != 0 && refused.errors.contains(kept.path), "\(refused.summary)")
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
