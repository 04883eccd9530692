import Model
import Testing
import Transfer

@testable import Connection

private func text(_ answer: PlainAnswer) async throws -> String {
    var bytes: [UInt8] = []
    while let piece = try await answer.next() { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
}

struct ExchangeTests {
    @Test("a request goes out as it was put, with the account's credentials, and the answer comes whole")
    func plain() async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            HTTPAnswer(status: 404, headers: ["X-a": "1"], body: ScriptedBody(chunks: [[104], [105]]))
        }
        let answer = try await Connection("https://h/dav", over: transport).loopRequests.exchange(
            PlainRequest("POST", "/ocs/v2.php?format=json", headers: [("OCS-APIRequest", "true")], body: [1, 2]))
        let text = try await text(answer)
        #expect(answer.status == 404 && answer.header("x-A") == "1" && answer.header("b") == nil && text == "hi")
        #expect(try await answer.next() == nil)
        let request = transport.requests[0]
        #expect(request.method == "POST" && request.body == [1, 2])
        #expect(request.address.description == "https://h/ocs/v2.php?format=json")
        #expect(request.headers.first(name: "OCS-APIRequest") == "true")
        #expect(request.authorization == .basic(username: "ada", password: "secret"))
    }

    @Test(
        "targets are paths from the origin's root or addresses there, without traps",
        arguments: [
            ("/", "https://h/"), ("//evil/x", "https://h/evil/x"), ("https://H:443/a", "https://h/a"),
            ("///a//b/?c=//d", "https://h/a//b/?c=//d"), ("/100%", "https://h/100%25"), ("/%4", "https://h/%254"),
            ("/%2f%zz", "https://h/%2f%25zz"), ("/ü?q=ü", "https://h/%C3%BC?q=%C3%BC"), ("/a#b", "https://h/a"),
        ])
    func targets(_ target: String, _ address: String) async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(200) }
        _ = try await Connection("https://h/dav", over: transport).loopRequests.exchange(PlainRequest("GET", target))
        #expect(transport.requests[0].address.description == address)
    }

    @Test(
        "D01: nothing is sent to another origin",
        arguments: [
            "https://evil/", "http://h/", "https://h:444/", "https://h.evil/", "ftp://h/", "a/b", "", "/a b",
            "https://a@h/",
        ])
    func otherOrigin(_ target: String) async {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(200) }
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/dav", over: transport).loopRequests.exchange(PlainRequest("GET", target))
        }
        #expect(error?.kind == .badRequest && error?.concernsAccount == false && transport.requests.isEmpty)
    }

    @Test("what is not the caller's to set, or cannot be sent, is refused by name")
    func fields() async {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(200) }
        let connection = Connection("https://h/dav", over: transport)
        for (name, value) in [
            ("authorization", "x"), ("Host", "x"), ("Content-Length", "1"), ("a b", "c"), ("a", "b\r\nc: d"), ("", ""),
        ] {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.exchange(PlainRequest("GET", "/", headers: [(name, value)]))
            }
            #expect(error?.kind == .badRequest)
        }
        for method in ["", "GET /x", "G\u{e9}T", "get", "TRACE", "TRACK", "CONNECT", "DEBUG"] {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.exchange(PlainRequest(method, "/"))
            }
            #expect(error?.kind == .badRequest)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "a 401 away from the files of a plain server says nothing of the account's password; on one of the ownCloud family it does",
        arguments: [false, true])
    func somebodyElsesDoor(isFamily: Bool) async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            .status(401, ["WWW-Authenticate": "Basic realm=\"r\""])
        }
        let connection = Connection("https://h/dav", over: transport)
        connection.wire.learn(.root(try connection.wire.bookmarkAddress(), hasFiles: true, isFamily: isFamily))
        if isFamily {
            await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.exchange(PlainRequest("GET", "/ocs/x"))
            }
            #expect(throws: ConnectionError.self) { try connection.wire.usableCredentials() }
        } else {
            #expect(try await connection.loopRequests.exchange(PlainRequest("GET", "/ocs/x")).status == 401)
            _ = try connection.wire.usableCredentials()
            await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.exchange(PlainRequest("GET", "/dav/x"))
            }
        }
    }

    @Test("K14: a 401 away from the files is handed out while the account's files are there", arguments: [false, true])
    func calendarsAlone(isFamily: Bool) async throws {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            request.address.path.hasPrefix("/dav/files/") ? .status(207) : .status(401)
        }
        let connection = Connection("https://h/", over: transport)
        connection.wire.learn(.root(try ServerAddress("https://h/dav/files/ada/"), hasFiles: true, isFamily: isFamily))
        #expect(try await connection.loopRequests.exchange(PlainRequest("GET", "/dav/cal/x")).status == 401)
        let request = MultistatusRequest("PROPFIND", "/dav/cal/", properties: [Sync.etag])
        #expect(try await connection.loopRequests.multistatus(request).status == 401)
        _ = try connection.wire.usableCredentials()
        // Only a server of the ownCloud family has one login for all paths. After each 401 the connection asks such a
        // server's root whether it rejects the credentials.
        #expect(transport.requests.count { $0.address.path == "/dav/files/ada/" } == (isFamily ? 2 : 0))
        #expect(transport.requests.count == (isFamily ? 4 : 2))
    }

    @Test(
        "K14: a principal that the account may not ask for is an error, and not the account's",
        arguments: [false, true])
    func principal(isRefused: Bool) async throws {
        let body = """
            <multistatus xmlns="DAV:"><response><href>/dav/files/</href><propstat>\
            <prop><current-user-principal><href>/p/ada/</href></current-user-principal></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>
            """
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            guard request.address.path == "/dav/files/" else { return .status(isRefused ? 401 : 404) }
            return HTTPAnswer(status: 207, headers: [:], body: ScriptedBody(chunks: [Array(body.utf8)]))
        }
        let connection = Connection("https://h/dav/files/", over: transport)
        connection.wire.learn(.root(try connection.wire.bookmarkAddress(), hasFiles: true, isFamily: false))
        if isRefused {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.discover(.caldav)
            }
            #expect(error?.kind == .forbidden && error?.status == 401)
        } else {
            #expect(try await connection.loopRequests.discover(.caldav) == nil)
        }
        _ = try connection.wire.usableCredentials()
    }

    @Test(
        "an answer that repeats the account's credentials is handed on up to there at most, however it is cut",
        arguments: 1...40)
    func echo(_ size: Int) async throws {
        // The text is the header that Basic authentication sends for the user ada and the password secret.
        let page = Array("Authorization: Basic YWRhOnNlY3JldA== and more".utf8)
        let chunks = stride(from: 0, to: page.count, by: size).map { Array(page[$0..<min($0 + size, page.count)]) }
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            HTTPAnswer(status: 200, headers: [:], body: ScriptedBody(chunks: chunks))
        }
        let answer = try await Connection("https://h/", over: transport).loopRequests.exchange(
            PlainRequest("GET", "/debug"))
        var seen: [UInt8] = []
        let error = await #expect(throws: ConnectionError.self) {
            while let piece = try await answer.next() { seen += piece }
        }
        #expect(error?.kind == .protocolViolation)
        #expect(error?.description.contains("YWRh") == false)
        #expect("Authorization: Basic ".hasPrefix(String(decoding: seen, as: UTF8.self)))
    }

    @Test(
        "no response of a multistatus repeats the account's credentials, nor does what is known at its end",
        arguments: [207, 403])
    func echoInMultistatus(_ code: Int) async throws {
        let secret = "YWRhOnNlY3JldA=="
        let listing = Sync.sabre.replacing("&quot;a&quot;", with: secret)
        let page = code == 207 ? listing : "<d:error xmlns:d=\"DAV:\" xmlns:s=\"\(secret)\"><s:header/></d:error>"
        let pieces = stride(from: 0, to: page.utf8.count, by: 7).map { Array(page.utf8.dropFirst($0).prefix(7)) }
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            HTTPAnswer(status: code, headers: [:], body: ScriptedBody(chunks: pieces))
        }
        let answer = try await Connection("https://h/", over: transport).loopRequests.multistatus(
            MultistatusRequest("REPORT", "/cal/ada/", body: Array("<x/>".utf8), properties: [Sync.etag]))
        if code == 207 {
            let error = await #expect(throws: ConnectionError.self) { while try await answer.next() != nil {} }
            #expect(error?.kind == .protocolViolation && error?.description.contains(secret) == false)
        } else {
            #expect(try await answer.next() == nil)
            #expect(await answer.end?.errors == [])
        }
    }

    @Test("a header that repeats the account's credentials is an error; an answer that nearly does comes whole")
    func nearly() async throws {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if request.address.path == "/header" { return .status(200, ["X-Debug": "Basic YWRhOnNlY3JldA=="]) }
            let chunks = ["YWRhOnNl", "Y3JldA=", "+ YWRhOn"].map { Array($0.utf8) }
            return HTTPAnswer(status: 200, headers: [:], body: ScriptedBody(chunks: chunks))
        }
        let connection = Connection("https://h/", over: transport)
        let error = await #expect(throws: ConnectionError.self) {
            try await connection.loopRequests.exchange(PlainRequest("GET", "/header"))
        }
        #expect(error?.kind == .protocolViolation)
        let answer = try await connection.loopRequests.exchange(PlainRequest("GET", "/page"))
        #expect(try await text(answer) == "YWRhOnNlY3JldA=+ YWRhOn")
    }

    @Test("K14: a 401 is one request; nothing more is sent until there are new credentials")
    func refused() async throws {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if case .basic(_, "better") = request.authorization { return .status(200) }
            return .status(401, ["WWW-Authenticate": "Basic realm=\"r\""])
        }
        let connection = Connection("https://h/", over: transport)
        for _ in 0..<3 {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.exchange(PlainRequest("GET", "/a"))
            }
            #expect(error?.kind == .authentication)
            await #expect(throws: ConnectionError.self) {
                try await connection.loopRequests.multistatus(
                    MultistatusRequest("PROPFIND", "/a", properties: [Sync.etag]))
            }
        }
        #expect(transport.requests.count == 1)
        connection.use(.basic(username: "ada", password: "better"))
        #expect(try await connection.loopRequests.exchange(PlainRequest("GET", "/a")).status == 200)
    }

    @Test("O09: 429 and 503 are errors with the wait that the server asks for", arguments: [429, 503])
    func later(_ status: Int) async {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(status, ["Retry-After": "120"]) }
        let connection = Connection("https://h/", over: transport)
        let plain = await #expect(throws: ConnectionError.self) {
            try await connection.loopRequests.exchange(PlainRequest("GET", "/a"))
        }
        let dav = await #expect(throws: ConnectionError.self) {
            try await connection.loopRequests.multistatus(MultistatusRequest("PROPFIND", "/a", properties: [Sync.etag]))
        }
        for error in [plain, dav] {
            #expect(error?.kind == .serverError && error?.retryAfter == .seconds(120) && error?.isTransient == true)
        }
    }

    @Test("a request that changes something is not sent again when nobody knows whether it arrived")
    func repeats() async {
        for (method, count) in [("POST", 1), ("PATCH", 1), ("GET", 3), ("REPORT", 3)] {
            let transport = ScriptedTransport { _, _ throws(TransportError) in throw .closed }
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection("https://h/", over: transport).loopRequests.exchange(PlainRequest(method, "/"))
            }
            #expect(error?.kind == .unreachable && transport.requests.count == count)
        }
    }

    @Test("a body that breaks off is an error each time it is read; one that was closed is not read on")
    func ends() async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            HTTPAnswer(status: 200, headers: [:], body: ScriptedBody(chunks: [[1], [2]], failure: .timedOut(.body)))
        }
        let connection = Connection("https://h/", over: transport)
        let broken = try await connection.loopRequests.exchange(PlainRequest("GET", "/"))
        _ = (try await broken.next(), try await broken.next())
        for _ in 0..<2 {
            let error = await #expect(throws: ConnectionError.self) { try await broken.next() }
            #expect(error?.kind == .unreachable && error?.isTimeout == true)
        }
        let closed = try await connection.loopRequests.exchange(PlainRequest("GET", "/"))
        _ = try await closed.next()
        await closed.close()
        let error = await #expect(throws: ConnectionError.self) { try await closed.next() }
        #expect(error?.kind == .cancelled)
    }
}
