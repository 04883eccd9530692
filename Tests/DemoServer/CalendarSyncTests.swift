import DemoServer
import TestServer
import TestSupport
import Testing

@Suite struct CalendarSyncTests {
    private func withCalendar(
        _ objects: [String] = ["a", "b", "c"], _ body: (TestServer, CalendarClient) async throws -> Void
    ) async throws {
        try await TestServer.running { server async throws in
            server.calendars.make("work")
            for object in objects { server.calendars.put("\(object).ics", event(object), in: "work") }
            try await body(server, CalendarClient(server))
        }
    }

    @Test("an empty token lists all, a later one what changed since; what came and went is a 404")
    func deltas() async throws {
        try await withCalendar { server, client in
            let all = try await client.sync("work")
            #expect(all.members == ["a.ics", "b.ics", "c.ics"] && all.token == "http://sabre.io/ns/sync/4")
            #expect(all.body.contents(of: "d:getetag").allSatisfy { $0.hasPrefix("&quot;") })
            #expect(try await client.sync("work", "http://sabre.io/ns/sync/0").members == all.members)
            let none = try await client.sync("work", all.token)
            #expect(none.members.isEmpty && none.token == all.token)
            server.calendars.put("d.ics", event("d"), in: "work")
            server.calendars.remove("d.ics", from: "work")
            server.calendars.remove("a.ics", from: "work")
            server.calendars.put("b.ics", event("other"), in: "work")
            let delta = try await client.sync("work", all.token)
            #expect(delta.members == ["d.ics 404", "a.ics 404", "b.ics"])
            let listed = try await client.find(server.calendars.path("work"), "<sync-token/>")
            #expect(listed.token == delta.token && delta.token == "http://sabre.io/ns/sync/8")
            server.behave { $0.calendars.removedStatus = 418 }
            #expect(try await client.sync("work", all.token).members == ["d.ics 418", "a.ics 418", "b.ics"])
            server.behave { $0.calendars.repeatsRemovals = true }
            #expect(try await client.sync("work", delta.token).members == ["a.ics 418", "d.ics 418"].sorted())
        }
    }

    @Test("tokens are compared byte by byte in every form, first or last", arguments: CalendarManner.Tokens.allCases)
    func tokens(_ form: CalendarManner.Tokens) async throws {
        try await withCalendar { server, client in
            server.behave { $0.calendars.tokens = form }
            let token = try await client.sync("work").token
            server.calendars.put("d.ics", event("d"), in: "work")
            #expect(try await client.sync("work", token).members == ["d.ics"])
            for other in [" \(token)", "\(token) ", "x\(token)"] {
                let refused = try await client.sync("work", other)
                #expect(refused.status == 403 && refused.body.contains("<d:valid-sync-token/>"))
            }
            server.behave { $0.calendars.tokenFirst = true }
            let body = try await client.sync("work").body
            let start = try #require(body.firstRange(of: "<d:sync-token>"))
            let response = try #require(body.firstRange(of: "<d:response>"))
            #expect(start.lowerBound < response.lowerBound)
        }
    }

    @Test("a token whose changes are lost comes back, is made new, or is refused")
    func lostTokens() async throws {
        try await withCalendar { server, client in
            let backup = server.calendars.backup()
            server.calendars.put("d.ics", event("d"), in: "work")
            let future = try await client.sync("work").token
            server.calendars.restore(backup)
            let old = try await client.sync("work").token
            let echoed = try await client.sync("work", future)
            #expect(echoed.status == 207 && echoed.members.isEmpty && echoed.token == future)
            server.calendars.put("e.ics", event("e"), in: "work")
            server.calendars.put("f.ics", event("f"), in: "work")
            server.calendars.forgetChanges(in: "work")
            #expect(try await client.sync("work", old).token == old)
            server.behave { $0.calendars.lostTokens = .newest }
            let newest = try await client.sync("work", old)
            #expect(newest.members.isEmpty && newest.token != old)
            server.behave { $0.calendars.lostTokens = .refused }
            server.behave { $0.calendars.invalidTokenStatus = 412 }
            let refused = try await client.sync("work", old)
            #expect(refused.status == 412 && refused.body.contains("<d:valid-sync-token/>"))
            server.behave { $0.calendars.lostTokens = .echoed }
            let odd = "http://sabre.io/ns/sync/x"
            #expect(try await client.sync("work", odd).token == odd)
        }
    }

    @Test("a delta in pages says with 507 that more follows, and its tokens lead through all of it")
    func pages() async throws {
        try await withCalendar { server, client in
            server.behave { $0.calendars.pageSize = 2 }
            let first = try await client.sync("work")
            #expect(first.members == ["a.ics", "b.ics", "work 507"])
            let second = try await client.sync("work", first.token)
            #expect(second.members == ["c.ics"] && second.token == "http://sabre.io/ns/sync/4")
            server.behave { $0.calendars.pageSize = nil }
            for name in ["d", "e", "d", "f"] { server.calendars.put("\(name).ics", event(name), in: "work") }
            let limited = try await client.sync("work", second.token, limit: 3)
            #expect(limited.members == ["d.ics", "e.ics", "work 507"])
            #expect(try await client.sync("work", limited.token, limit: 3).members == ["f.ics"])
            server.behave { $0.calendars.limit = .silentlyCut }
            let cut = try await client.sync("work", second.token, limit: 1)
            #expect(cut.members == ["d.ics"] && cut.token == "http://sabre.io/ns/sync/8")
            server.behave { $0.calendars.limit = .ignored }
            #expect(try await client.sync("work", second.token, limit: 1).members.count == 3)
            server.behave { $0.calendars.limit = .refused }
            let refused = try await client.sync("work", limit: 1)
            #expect(refused.status == 507 && refused.body.contains("<d:number-of-matches-within-limits/>"))
        }
    }

    @Test("requests that sabre/dav or Xandikos would not take are refused here too")
    func strictness() async throws {
        try await withCalendar { server, client in
            let path = server.calendars.path("work")
            func report(_ children: String, depth: String = "0", at path: String) async throws -> Client.Reply {
                try await client(
                    "REPORT", path, ["Depth: \(depth)"],
                    body: #"<x:sync-collection xmlns:x="DAV:">\#(children)</x:sync-collection>"#)
            }
            let (token, level) = ("<x:sync-token/>", "<x:sync-level>1</x:sync-level>")
            let prop = "<x:prop><x:getetag/></x:prop>"
            #expect(try await report(token + level + prop, at: path).status == 207)
            #expect(try await report(token + level, at: path).status == 400)
            #expect(try await report(level + prop, at: path).status == 400)
            #expect(try await report(token + level + prop + "<x:other/>", at: path).status == 400)
            #expect(try await report(token + level + prop, depth: "1", at: path).status == 400)
            #expect(try await client("REPORT", path, body: "<a><b></a>").status == 400)
            let home = try await report(token + level + prop, at: "/remote.php/dav/calendars/demo/")
            #expect(home.status == 415 && home.body.contains("<d:supported-report/>"))
            server.behave { $0.calendars.syncCollection = false }
            #expect(try await report(token + level + prop, at: path).status == 415)
            let properties = try await client.find(path, "<sync-token/><S:getctag/><supported-report-set/>").body
            #expect(properties.contains("<d:sync-token/>") && properties.contains("<cs:getctag>4</cs:getctag>"))
            #expect(!properties.contains("sync-collection"))
        }
    }

    @Test("calendar answers fail in all the ways that were asked for")
    func faults() async throws {
        try await withCalendar { server, client in
            let path = server.calendars.path("work")
            for status in [400, 403, 409, 410, 412] {
                server.add(
                    Fault(.refusal(status, precondition: "valid-sync-token"), method: "REPORT", path: path, times: 1))
                let refused = try await client.sync("work", "x")
                #expect(refused.status == status && refused.body.contains("<d:valid-sync-token/>"))
            }
            server.add(Fault(.refusal(403, precondition: nil), path: path, times: 1))
            let forbidden = try await client.sync("work")
            #expect(forbidden.status == 403 && !forbidden.body.contains("sync-token"))
            server.add(Fault(.truncatedListing, path: path, times: 1))
            let truncated = try await client.sync("work")
            #expect(truncated.status == 207 && truncated.body.hasSuffix("<d:hr"))
            server.add(Fault(.emptyListing, path: path, times: 1))
            #expect(try await client.sync("work").members.isEmpty)
            server.add(Fault(.documentType(#"<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>"#), path: path))
            let typed = try await client.sync("work").body
            #expect(typed.contains("\n<!DOCTYPE x [") && typed.contains("<d:sync-token>&e;</d:sync-token>"))
        }
    }
}
