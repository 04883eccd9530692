import Logging
import Model
import Synchronization
import TestServer
import TestSupport
import Testing
import Transfer

@testable import Connection

private let capabilities = #"{"ocs":{"meta":{},"data":{"capabilities":{"core":{"pollinterval":60}}}}}"#
private let stream = "/ocs/v2.php/apps/notifications/api/v1/notifications/sse"
private let notifications = "/ocs/v2.php/apps/notifications/api/v2/notifications"
private let almostDay = Duration.seconds(80_000)

/// Makes a server of the ownCloud family that answers at these paths and returns 404 elsewhere.
private func family(_ places: [String: @Sendable (Int) -> HTTPAnswer]) -> ScriptedTransport {
    let counts = Mutex<[String: Int]>([:])
    return ScriptedTransport { request, _ throws(TransportError) in
        let path = request.address.path
        if path == "/ocs/v1.php/cloud/capabilities" { return .status(200, [:], capabilities) }
        let number = counts.withLock { counts in
            counts[path, default: 0] += 1
            return counts[path, default: 0] - 1
        }
        return places[path]?(number) ?? .status(404)
    }
}

extension ScriptedTransport {
    fileprivate func count(_ path: String) -> Int { requests.count { $0.address.path == path } }
}

struct HintListenerTests {
    @Test("O08: a stream that drops is opened again, each time later, and each begins with a hint for everything")
    func reconnects() async throws {
        let time = TestClock()
        let transport = family([
            stream: { number in
                number == 4
                    ? .status(503, ["Retry-After": "400"])
                    : .status(200, ["Content-Type": "text/event-stream"], ": hello\n\n")
            }
        ])
        var hints = Connection("https://h/", clock: time.host, over: transport).hints().makeAsyncIterator()
        for longest in [1, 2, 4, 8, 400, 32, 60, 60] {
            if longest != 400 { #expect(await hints.next() == .everything) }
            let sleep = try #require(await time.untilSleeping { $0 <= almostDay })
            #expect(sleep.duration >= .seconds(longest) * 0.5 && sleep.duration <= .seconds(longest))
            time.wake(sleep)
        }
    }

    @Test("O08: a stream that was good for a while is opened again at once")
    func good() async throws {
        let time = TestClock { _ in .untilWoken }
        var clock = time.host
        // Each reading of the clock advances it by 40 s.
        clock.monotonic = {
            time.advance(.seconds(40))
            return time.monotonic
        }
        let transport = family([
            stream: { _ in .status(200, ["Content-Type": "text/event-stream; charset=utf-8"], failure: .timedOut(.body))
            }
        ])
        let hints = Connection("https://h/", clock: clock, over: transport).hints()
        for _ in 0..<5 {
            let sleep = try #require(await time.untilSleeping { $0 <= almostDay })
            #expect(sleep.duration <= .seconds(1))
            time.wake(sleep)
        }
        withExtendedLifetime(hints) {}
    }

    @Test("O06: notifications that change give a hint; a 204 is asked again after an hour")
    func notified() async throws {
        let time = TestClock()
        let transport = family([
            notifications: { number in
                number < 3 ? .status(200, ["ETag": number < 2 ? "\"a\"" : "\"b\""], "{}") : .status(204)
            }
        ])
        var hints = Connection("https://h/", clock: time.host, over: transport).hints().makeAsyncIterator()
        for number in 1...3 {
            let sleep = try #require(await time.untilSleeping { $0 <= almostDay })
            #expect(sleep.duration <= .seconds(30) && transport.count(notifications) == number)
            time.wake(sleep)
        }
        #expect(await hints.next() == [.shares, .account])
        let sleep = try #require(await time.untilSleeping { $0 <= almostDay })
        #expect(sleep.duration >= .seconds(3_600))
        let asked = transport.requests.filter { $0.address.path == notifications }
        #expect(asked.map { $0.headers.first(name: "If-None-Match") } == [nil, "\"a\"", "\"a\"", "\"b\""])
        #expect(
            asked.allSatisfy { $0.headers.first(name: "OCS-APIRequest") == "true" && $0.address.query == "format=json" }
        )
    }

    @Test(
        "L33: a server that is not of the family is asked once, and again a day later", arguments: [404, 403, 200, 501])
    func plain(_ status: Int) async throws {
        let time = TestClock()
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(status, [:], "<html>") }
        let hints = Connection("https://h/dav/", clock: time.host, over: transport).hints()
        for number in 1...2 {
            let sleep = try #require(await time.untilSleeping { $0 <= .seconds(200_000) })
            #expect(sleep.duration >= .seconds(86_400) && transport.requests.count == number)
            time.wake(sleep)
        }
        withExtendedLifetime(hints) {}
    }

    @Test("L33: what a server of the family does not offer is asked for once a day")
    func notOffered() async throws {
        let time = TestClock()
        let transport = family([stream: { _ in .status(200, ["Content-Type": "text/html"], "<html>") }])
        let hints = Connection("https://h/", clock: time.host, over: transport).hints()
        for _ in 0..<3 {
            let sleep = try #require(await time.untilSleeping { $0 <= .seconds(200_000) })
            #expect(sleep.duration >= .seconds(86_400))
        }
        // The same sleep may have been seen three times, while another request was still to be made.
        await until { transport.requests.count >= 4 }
        #expect(transport.requests.count == 4)
        withExtendedLifetime(hints) {}
    }

    @Test("K14: refused credentials are not sent again for hints")
    func refused() async throws {
        let time = TestClock()
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(401) }
        let connection = Connection("https://h/", clock: time.host, over: transport)
        await #expect(throws: ConnectionError.self) {
            try await connection.loopRequests.exchange(PlainRequest("GET", "/"))
        }
        let hints = connection.hints()
        for _ in 0..<8 { time.wake(try #require(await time.untilSleeping { $0 <= .seconds(60) })) }
        #expect(transport.requests.count == 1)
        withExtendedLifetime(hints) {}
    }

    @Test(
        "K14: a 401 where hints are asked for is no word on what the server offers: it is asked again, later each time")
    func refusedForHints() async throws {
        for isWhole in [true, false] {
            let time = TestClock()
            let transport =
                isWhole
                ? ScriptedTransport { _, _ throws(TransportError) in .status(401) }
                : family([
                    stream: { _ in .status(401) }, notifications: { _ in .status(204) },
                    "/ocs/v2.php/apps/activity/api/v2/activity": { _ in .status(204) },
                ])
            let hints = Connection("https://h/", clock: time.host, over: transport).hints()
            for longest in [30, 60, 120, 240, 480, 900, 900] {
                let sleep = try #require(await time.untilSleeping { $0 <= .seconds(1000) })
                #expect(sleep.duration >= .seconds(longest) * 0.5 && sleep.duration <= .seconds(longest))
                time.wake(sleep)
            }
            withExtendedLifetime(hints) {}
        }
    }

    @Test("who listens ends it by cancelling")
    func cancels() async throws {
        let time = TestClock()
        let connection = Connection("https://h/", clock: time.host, over: family([:]))
        let listening = Task { for await _ in connection.hints() {} }
        await until { time.sleeping.count == 3 }
        listening.cancel()
        await listening.value
        await until { time.sleeping.isEmpty }
        #expect(time.slept.isEmpty)
    }

    @Test("hints that nobody has taken yet become one")
    func together() async {
        let (stream, continuation) = AsyncStream.makeStream(of: HintSet.self, bufferingPolicy: .bufferingNewest(1))
        let emit = HintEmitter(continuation)
        for hints: HintSet in [.items, [], .shares, .items] { emit(hints) }
        emit.finish()
        var all: [HintSet] = []
        for await hints in stream { all.append(hints) }
        #expect(all == [[.items, .shares]])
    }

    @Test(
        "O08: an event of a server's stream is a hint; a cut stream is opened again, and leaves room for other requests"
    )
    func overTheNetwork() async throws {
        var configuration = TestServer.Configuration()
        configuration.manner.hints.stream = true
        let time = TestClock()
        try await TestServer.running(configuration) { server in
            let connection = Connection(
                bookmark: .at(server.url, username: server.configuration.user),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: Limits(connections: 1), clock: time.host, logger: Logger(label: "test"))
            try await closing(connection) {
                var hints = connection.hints().makeAsyncIterator()
                #expect(await hints.next() == .everything)
                server.hints.send("share-created")
                #expect(await hints.next() == .shares)
                _ = try await connection.connect()
                server.hints.send(text: ": keep-alive\n\nevent: item-moved\ndata: {}\n\n")
                #expect(await hints.next() == .items)
                server.hints.cutStreams()
                time.wake(try #require(await time.untilSleeping { $0 <= .seconds(1) }))
                #expect(await hints.next() == .everything)
                #expect(server.hints.streamsOpened == 2)
            }
        }
    }
}
