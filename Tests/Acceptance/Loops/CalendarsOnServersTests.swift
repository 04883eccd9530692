import Glibc
import Model
import TestSupport
import Testing

/// Calendars of foreign servers, kept by the program as a person runs it.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CalendarsOnServersTests {
    private func withAccount(
        _ program: CalendarServer.Program, _ body: (CalendarAccount, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await withCalendarServer(program, data: "\(folder)/data") { server in
                try await body(try CalendarAccount(in: "\(folder)/one", server), folder)
            }
        }
    }

    private func event(_ uid: String, summary: String? = nil) -> String {
        CalendarAccount.event(uid, summary: summary)
    }

    @Test(
        "D04 K01 K02: all calendars are there after one run, byte for byte, and follow what others do with them",
        arguments: CalendarServer.Program.allCases)
    func life(_ program: CalendarServer.Program) async throws {
        try await withAccount(program) { kept, _ in
            let server = kept.server
            // Xandikos rejects a percent sign in a calendar's name.
            let title = program == .radicale ? "Work & <more> 100%" : "Work & <more>"
            let work = try await server.makeCalendar("work", displayName: title)
            let empty = try await server.makeCalendar("empty", displayName: "Über nichts")
            var names = ["a.ics", "b%20%C3%A4.ics", "100%25.ics", "p%2541.ics"]
            try await server.put(
                Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, event("\($0)")) }), into: work)
            try await kept.runOnce()
            let items = try await kept.account.larder("ls")
            #expect(items.exitCode == 0 && items.output.isEmpty, "\(items.summary)")
            #expect(
                try await kept.listed().filter { $1 > 0 || $0 == "Über nichts" } == [
                    title: 4, "Über nichts": 0,
                ])
            #expect(try await kept.differences(title, from: work, names) == [])
            #expect(try await kept.differences("Über nichts", from: empty, []) == [])

            try await server.put("a.ics", event("0", summary: "changed"), into: work)
            try await server.remove("b%20%C3%A4.ics", from: work)
            try await server.put("c.ics", event("c"), into: work)
            try await server.put("d.ics", event("d"), into: empty)
            names = ["a.ics", "100%25.ics", "p%2541.ics", "c.ics"]
            try await kept.runOnce()
            #expect(try await kept.differences(title, from: work, names) == [])
            #expect(try await kept.differences("Über nichts", from: empty, ["d.ics"]) == [])
            let objects = try await kept.account.larder("--json", "calendar", "objects", work.path)
            #expect(objects.lines.count == 4 && objects.output.contains("changed"), "\(objects.summary)")

            // After a restart the program asks each calendar once for news and fetches nothing.
            let quiet = try await kept.runOnce()
            let calendars = try await kept.listed().count
            #expect(quiet.paths(of: "REPORT").count <= calendars, "\(quiet)")
            #expect(quiet.paths(of: "GET").allSatisfy { !$0.hasSuffix(".ics") })
        }
    }

    /// Both servers take long to be given many objects, Xandikos longest.
    @Test(
        "K01 K12: the first objects come with one request where the server gives them so, many new ones a hundred at a time",
        arguments: [(CalendarServer.Program.radicale, 300), (.xandikos, 200)])
    func many(_ program: CalendarServer.Program, count: Int) async throws {
        try await withAccount(program) { kept, _ in
            let work = try await kept.server.makeCalendar("work")
            try await kept.server.put(["a.ics": event("a"), "b.ics": event("b")], into: work)
            let first = try await kept.runOnce()
            #expect(try await kept.differences("work", from: work, ["a.ics", "b.ics"]) == [])
            #expect(first.paths(of: "REPORT").filter { $0 == work.path }.count == (program == .radicale ? 1 : 2))
            let names = (0..<count).map { "object\($0).ics" }
            try await kept.server.put(
                Dictionary(uniqueKeysWithValues: names.map { ($0, event($0)) }), into: work)
            let requests = try await kept.runOnce()
            #expect(try await kept.differences("work", from: work, ["a.ics", "b.ics"] + names) == [])
            // One request lists the objects, and the others fetch them.
            #expect(requests.paths(of: "REPORT").filter { $0 == work.path }.count == 1 + count / 100)
        }
    }

    @Test(
        "D05: calendars that come, get another name and go, while the host runs",
        arguments: CalendarServer.Program.allCases)
    func comingAndGoing(_ program: CalendarServer.Program) async throws {
        try await withAccount(program) { kept, folder in
            let server = kept.server
            let host = try kept.account.larder.start(["run"], errors: "\(folder)/log")
            func until(
                _ what: String, _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
            ) async throws {
                try await soon(what, beside: host, log: "\(folder)/log", place) { try await isSo() }
            }
            do {
                // The removal of the account's last calendar would wait for a person, so another calendar stays.
                _ = try await server.makeCalendar("beside", displayName: "Beside")
                let late = try await server.makeCalendar("late", displayName: "Late")
                try await server.put("a.ics", event("a"), into: late)
                try await until("the calendar comes") {
                    try kept.folders().contains("Late")
                        && Files.names(in: kept.folder("Late")) == ["a.ics"]
                }
                try await server.rename(late, to: "Later")
                try await until("its name changes") {
                    try !kept.folders().contains("Late") && Files.exists("\(kept.folder("Later"))/a.ics")
                }
                try await server.put("b.ics", event("b"), into: late)
                try await until("it is still followed") { Files.exists("\(kept.folder("Later"))/b.ics") }
                try await server.remove(late)
                try await until("the calendar goes") { try !kept.folders().contains("Later") }
                #expect(try await kept.listed()["Later"] == nil)
            } catch {
                Issue.record(error)
            }
            await host.stop()
        }
    }

    @Test(
        "K04 K07: where the server's past is lost, what differs is fetched, and nothing else",
        arguments: CalendarServer.Program.allCases)
    func lostPast(_ program: CalendarServer.Program) async throws {
        try await withAccount(program) { kept, _ in
            let server = kept.server
            let work = try await server.makeCalendar("work")
            var objects = ["a.ics": event("a"), "b.ics": event("b"), "c.ics": event("c")]
            try await server.put(objects, into: work)
            try await kept.runOnce()
            objects["a.ics"] = event("a", summary: "changed")
            objects["b.ics"] = nil
            switch program {
            case .radicale:
                try await server.remove("b.ics", from: work)
                try await server.put("a.ics", objects["a.ics"] ?? "", into: work)
                server.removeCache(of: work)
            case .xandikos:
                try await server.replace(work)
                try await server.put(objects, into: work)
            }
            let requests = try await kept.runOnce()
            #expect(try await kept.differences("work", from: work, Array(objects.keys)) == [])
            // The requests are the one that the server refuses, the list, and one batch. If the server says that the
            // calendar is another one, the refused request is not made.
            let count = program == .radicale ? 3 : 2
            #expect(requests.paths(of: "REPORT").filter { $0 == work.path }.count == count, "\(requests)")
        }
    }

    @Test("K10: of two clients the second finds its token too old, lists once, and goes on with changes")
    func twoClients() async throws {
        try await withAccount(.radicale) { first, folder in
            let server = first.server
            let second = try CalendarAccount(in: "\(folder)/two", server)
            let work = try await server.makeCalendar("work")
            try await server.put("a.ics", event("a"), into: work)
            try await first.runOnce()
            try await second.runOnce()
            try await server.put("b.ics", event("b"), into: work)
            try server.age(work, bySeconds: 40 * 86_400)
            func reports(_ requests: [LoggedRequest]) -> Int {
                requests.filter { $0.method == "REPORT" && $0.path == work.path }.count
            }
            // A listing of the home alone makes Radicale drop tokens that are too old, including the token of the
            // client that asks.
            let counts = try await [reports(first.runOnce()), reports(second.runOnce())]
            #expect(counts == [3, 3])
            try await server.put("c.ics", event("c"), into: work)
            for client in [first, second] {
                #expect(try await reports(client.runOnce()) == 2)
                #expect(try await client.differences("work", from: work, ["a.ics", "b.ics", "c.ics"]) == [])
            }
        }
    }

    @Test(
        "L36: an emptied calendar, and one that is gone, wait for a person", arguments: CalendarServer.Program.allCases)
    func emptied(_ program: CalendarServer.Program) async throws {
        try await withAccount(program) { kept, _ in
            let work = try await kept.server.makeCalendar("work")
            let names = (0..<22).map { "\($0).ics" }
            try await kept.server.put(Dictionary(uniqueKeysWithValues: names.map { ($0, event($0)) }), into: work)
            try await kept.runOnce()
            func held(_ words: String) async throws {
                let ran = try await kept.account.larder("run", "--once")
                #expect(ran.exitCode == 1 && ran.errors.contains(words), "\(ran.summary)")
                #expect(try Files.names(in: kept.folder("work")).count == 22)
            }
            for name in names.dropFirst() { try await kept.server.remove(name, from: work) }
            try await held("The server no longer has 21 of 22 objects of the calendar work: ")
            // Another client puts the objects back.
            try await kept.server.put(
                Dictionary(uniqueKeysWithValues: names.dropFirst().map { ($0, event($0)) }), into: work)
            try await kept.runOnce()
            #expect(try await kept.differences("work", from: work, names) == [])
            try await kept.server.remove(work)
            try await held("calendars: work (22 objects)")
            let resolved = try await kept.account.larder(
                "issue", "resolve", "--all", "--code", "calendar.removals", "apply")
            #expect(resolved.exitCode == 0, "\(resolved.summary)")
            try await kept.runOnce()
            #expect(try !kept.folders().contains("work"))
        }
    }

    @Test("K14: a password that stops working while loops are polled each second is not sent again once rejected")
    func passwordChanged() async throws {
        try await withAccount(.radicale) { kept, _ in
            let work = try await kept.server.makeCalendar("work")
            try await kept.server.put("a.ics", event("a"), into: work)
            let host = try kept.account.larder.start(["run"])
            func refused() async throws -> Int { try await kept.server.requests().count { $0.status == 401 } }
            while try !kept.folders().contains("work") { try await HostClock.system.sleep(.milliseconds(50)) }
            let unasked = try await refused()
            try kept.server.setPassword("another")
            while try await refused() == unasked { try await HostClock.system.sleep(.milliseconds(50)) }
            try await HostClock.system.sleep(.seconds(3))
            // A connect and one request of the loops may be under way together when the password stops working.
            #expect(try await (1...2).contains(refused() - unasked))
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    @Test("A wrong password is sent by no loop")
    func wrongPassword() async throws {
        try await withAccount(.radicale) { kept, folder in
            _ = try await kept.server.makeCalendar("work")
            var counts: [Int] = []
            for hasLoops in [false, true] {
                var wrong = try CalendarAccount(in: "\(folder)/\(hasLoops)", kept.server, password: "wrong")
                wrong.account.larder.hasLoops = hasLoops
                let before = try await kept.server.requests().count
                let ran = try await wrong.account.larder("run", "--once")
                #expect(ran.exitCode == 77, "\(ran.summary)")
                counts.append(try await kept.server.requests().count - before)
            }
            #expect(counts[0] == counts[1])
        }
    }

    @Test("L33: a server of files alone is asked for calendars once a day, and that is no error")
    func filesAlone() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("x", to: "\(folder)/data/a.txt")
            try await withServer(.apache, data: "\(folder)/data", options: Account.withLogin) { server in
                var account = try Account(in: "\(folder)/one", server)
                func runOnce() async throws -> [String] {
                    try await server.forgetRequests()
                    let ran = try await account.larder("run", "--once")
                    #expect(ran.exitCode == 0, "\(ran.summary)")
                    return try await server.requests().map { "\($0.method) \($0.path)" }.sorted()
                }
                account.larder.hasLoops = true
                let first = try await runOnce()
                #expect(first.contains { $0.hasSuffix(" /.well-known/caldav") })
                let loops = try await account.larder("--json", "loop", "list")
                #expect(loops.exitCode == 0 && loops.output.contains(#""lastResult":"notOffered""#), "\(loops.summary)")
                let second = try await runOnce()
                account.larder.hasLoops = false
                let without = try await runOnce()
                #expect(second == without)
            }
        }
    }
}
