import TestServer
import TestSupport
import Testing

@Suite struct HintTests {
    private func ask(_ server: TestServer, _ path: String, _ fields: [String] = []) async throws -> Client.Reply {
        try await Client(server)("GET", "//ocs/v2.php/apps/\(path)", ["OCS-APIRequest: true"] + fields)
    }

    @Test("notifications have an ETag of their ids, come always or under conditions, and may not be there at all")
    func notifications() async throws {
        try await TestServer.running { server async throws in
            let path = "notifications/api/v2/notifications?format=json"
            #expect(try await ask(server, path).status == 404)
            server.behave { $0.hints.notifications = .listed }
            let empty = try await ask(server, path)
            #expect(empty.status == 200 && empty.body.contains(#""data":[]"#))
            server.hints.notify("Grace shared \"a\" with you", objectID: "7")
            let one = try await ask(server, path)
            let etag = try #require(one.fields["etag"])
            #expect(etag != empty.fields["etag"] && one.body.contains(#""subject":"Grace shared \"a\" with you""#))
            #expect(one.body.contains(#""notification_id":1,"app":"files_sharing""#))
            #expect(try await ask(server, path, ["If-None-Match: \(etag)"]).status == 200)
            server.behave { $0.hints.notificationsNotModified = true }
            #expect(try await ask(server, path, ["If-None-Match: \(etag)"]).status == 304)
            server.hints.removeNotifications()
            #expect(try await ask(server, path).fields["etag"] == empty.fields["etag"])
            server.behave { $0.hints.notifications = .unused }
            #expect(try await ask(server, path).status == 204)
        }
    }

    @Test("activities come in pages from an id on, and say when some are not there any more")
    func activities() async throws {
        try await TestServer.running { server async throws in
            let path = "activity/api/v2/activity?format=json&sort=asc"
            server.behave { $0.hints.activity = true }
            for number in 1...3 { server.hints.addActivity("shared", "number \(number)") }
            let first = try await ask(server, path + "&limit=2")
            #expect(first.fields["x-activity-last-given"] == "2" && first.body.contains("number 1"))
            #expect(first.fields["link"]?.contains("since=2&limit=2&sort=asc>; rel=\"next\"") == true)
            let second = try await ask(server, path + "&limit=2&since=2")
            #expect(second.fields["x-activity-last-given"] == "3" && second.fields["link"] == nil)
            #expect(second.fields["x-activity-first-known"] == nil)
            #expect(try await ask(server, path + "&since=3").status == 304)
            server.hints.forgetActivities(before: 3)
            let pruned = try await ask(server, path + "&since=1")
            #expect(pruned.fields["x-activity-first-known"] == "3" && pruned.body.contains("number 3"))
            #expect(try await ask(server, "activity/api/v2/activity/none?format=json").status == 404)
            server.behave { $0.hints.activityUnused = true }
            #expect(try await ask(server, path).status == 204)
        }
    }

    @Test("a stream brings events as they come, to all who listen, until it is cut")
    func stream() async throws {
        try await TestServer.running { server async throws in
            let path = "notifications/api/v1/notifications/sse"
            #expect(try await ask(server, path).status == 404)
            server.behave { $0.hints.stream = true }
            async let first = ask(server, path)
            async let second = ask(server, path)
            await server.hints.untilStreamsOpened(2)
            server.hints.send("share-created", data: #"{"itemid":"1"}"#)
            server.hints.send(text: ": keep-alive\n\n")
            server.hints.cutStreams()
            for reply in [try await first, try await second] {
                #expect(reply.fields["content-type"] == "text/event-stream")
                #expect(reply.body == "event: share-created\ndata: {\"itemid\":\"1\"}\n\n: keep-alive\n\n")
            }
            #expect(server.hints.streamsOpened == 2)
        }
    }

    @Test("a server that somebody listens to can be stopped")
    func stopWhileListened() async throws {
        let server = try await TestServer.start()
        server.behave { $0.hints.stream = true }
        async let reply = ask(server, "notifications/api/v1/notifications/sse")
        await server.hints.untilStreamsOpened(1)
        await server.stop()
        _ = try await reply
        // The system may have given the port to a server of another test, and a child process may have the socket for a
        // moment.
        #expect(await until { !LoopbackPort.isOpen(UInt16(server.port)) })
    }

    @Test("events of all shapes lead from id to id")
    func events() async throws {
        try await TestServer.running { server async throws in
            let client = Client(server)
            func get(_ path: String) async throws -> Client.Reply { try await client("GET", "//events/\(path)") }
            server.events.open("core")
            #expect(try await get("core/v4/events/latest").status == 404)
            server.behave { $0.events = true }
            let start = try #require(server.events.latest("core"))
            #expect(try await get("core/v4/events/latest").body == #"{"Code":1000,"EventID":"\#(start)"}"#)
            #expect(
                try await get("core/v5/events/\(start)").body
                    == #"{"Code":1000,"EventID":"\#(start)","Refresh":0,"More":0}"#)
            let first = server.events.add(.init(#""Calendars":[{"ID":"c1","Action":0}]"#), to: "core")
            let second = server.events.add(.init(refresh: 2), to: "core")
            #expect(
                try await get("core/\(start)").body
                    == #"{"Code":1000,"EventID":"\#(first)","Refresh":0,"More":1,"Calendars":[{"ID":"c1","Action":0}]}"#
            )
            #expect(
                try await get("core/\(first)").body == #"{"Code":1000,"EventID":"\#(second)","Refresh":2,"More":0}"#)
            let unknown = try await get("core/other")
            #expect(unknown.status == 422 && unknown.body.contains(#""Code":2061"#))
            server.events.forgetPages(of: "core")
            #expect(try await get("core/\(start)").body.contains(#""EventID":"\#(second)","Refresh":255,"More":0"#))
            server.events.script(["{}", "no JSON"], in: "core")
            #expect(try await [get("core/x").body, get("core/x").body] == ["{}", "no JSON"])

            let calendar = server.events.add(.init(), to: "calendar/c1")
            #expect(
                try await get("calendar/v1/c1/modelevents/latest").body
                    == #"{"Code":1000,"CalendarModelEventID":"\#(calendar)"}"#)
            server.events.open("share/s1")
            let before = try #require(server.events.latest("share/s1"))
            server.events.add(.init(#""Events":[]"#, refresh: 1), to: "share/s1")
            #expect(try await get("drive/shares/s1/events/\(before)").body.contains(#""Refresh":1,"More":0,"Events""#))
            #expect(
                try await get("drive/v2/volumes/s1/events/\(before)").body.contains(#""Refresh":true,"More":false,"#))
            server.events.close("share/s1")
            #expect(try await get("share/s1/latest").status == 404)
        }
    }
}
