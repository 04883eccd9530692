import CLarder
import LarderFakeHost
import Testing

/// Tests of a plain JSON events endpoint in place of the share's root.
@Suite struct ShareFeedTests {
    private func server(_ eventID: String?) throws -> ShareServer {
        let server = try ShareServer(settings: #"{"events":{"url":"/events"}}"#)
        server.put("s 1", path: "/P")
        larder_fake_set_event_id(server.fixture.fake, "s 1", eventID)
        return server
    }

    private func answer(_ server: ShareServer, _ id: String, _ body: String, _ status: UInt32 = 200) {
        larder_fake_answer(server.fixture.fake, "GET", "/events/drive/shares/s%201/events/\(id)", status, body)
    }

    @Test(
        "L30: a share's pages are decoded, with numbers or booleans, and with deletes that have no entity",
        arguments: [("0", "1", "0"), ("false", "true", "false")])
    func pages(_ refresh: String, _ more: String, _ last: String) throws {
        let server = try server(nil)
        answer(server, "latest", #"{"Code":1000,"EventID":"e/1=="}"#)
        #expect(server.poll("s 1") == LARDER_OK && server.fixture.eventID(of: "s 1") == "e/1==")
        #expect(server.looks() == ["/P"])
        answer(
            server, "e%2F1%3D%3D",
            """
            {"Code":1000,"EventID":"e2","Refresh":\(refresh),"More":\(more),"New":{},\
            "Events":[{"EventID":"x","EventType":0,"Link":{"LinkID":"l"}},{"EventType":3}]}
            """
        )
        #expect(server.poll("s 1") == LARDER_OK && larder_fake_has_more(server.fixture.fake) == 1)
        #expect(server.looks() == ["/P"] && server.fixture.eventID(of: "s 1") == "e2")
        answer(server, "e2", #"{"Code":1000,"EventID":"e2","Refresh":\#(refresh),"More":\#(last),"Events":[]}"#)
        #expect(server.poll("s 1") == LARDER_OK && larder_fake_has_more(server.fixture.fake) == 0)
        #expect(server.looks() == [] && server.asked == [] && server.fixture.mistakes == [])
    }

    @Test(
        "L30: a share's page may ask for a refresh, as a number or a boolean, or the event id is none",
        arguments: [
            #"{"EventID":"e2","Refresh":1}"#, #"{"EventID":"e2","Refresh":true}"#, #"{"Code":2061,"Error":"no"}"#,
        ])
    func refresh(_ page: String) throws {
        let server = try server("e1")
        answer(server, "e1", page, page.contains("2061") ? 422 : 200)
        answer(server, "latest", #"{"EventID":"e9"}"#)
        #expect(server.poll("s 1") == LARDER_OK && server.fixture.eventID(of: "s 1") == "e9")
        #expect(server.looks() == ["/P"])
    }

    @Test(
        "O05: an events endpoint is not asked of a share that waits to be accepted, and from its newest id once it is")
    func pending() throws {
        let server = try server(nil)
        server.put("s 1", path: "/P", #""state":"pending""#)
        for turn in 0..<2 {
            #expect(server.poll("s 1") == LARDER_OK && server.asked == [])
            #expect(server.fixture.loopCalls.contains { $0.hasPrefix("refresh") } == (turn == 0))
            #expect(server.looks() == [])
        }
        server.put("s 1", path: "/P")
        answer(server, "latest", #"{"EventID":"e9"}"#)
        #expect(server.poll("s 1") == LARDER_OK && server.fixture.eventID(of: "s 1") == "e9")
        #expect(server.looks() == ["/P"])
    }
}
