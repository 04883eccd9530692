import Model
import Synchronization
import TestSupport
import Testing
import Transfer

@testable import Connection

/// Makes a server that answers at these paths and returns 404 elsewhere.
private func server(_ places: [String: @Sendable (HTTPRequest) -> HTTPAnswer]) -> ScriptedTransport {
    ScriptedTransport { request, _ throws(TransportError) in places[request.address.path]?(request) ?? .status(404) }
}

private func root(_ path: String) -> @Sendable (HTTPRequest) -> HTTPAnswer {
    { _ in .status(207, ["Date": "Sat, 21 Nov 2026 10:12:00 GMT"], Document.multistatus([path])) }
}

private let status =
    #"{"installed":true,"maintenance":false,"needsDbUpgrade":false,"#
    + #""version":"10.9.1.2","versionstring":"10.9.1","productname":"ownCloud"}"#

/// A request that is made once, in the middle of another request.
private final class LateRequest: Sendable {
    private let request = Mutex<(@Sendable () async -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () async -> Void) { request.withLock { $0 = body } }
    func make() async { await request.withLock { $0.take() }?() }
}

/// A body that makes another request before it ends.
private struct AskingBody: HTTPBody {
    let asks: LateRequest

    mutating func next() async throws(TransportError) -> [UInt8]? {
        await asks.make()
        return nil
    }
}

struct ConnectTests {
    @Test(
        "C4: what web servers say to HTTP at a port for TLS is told as that",
        arguments: [
            "<title>400 The plain HTTP request was sent to HTTPS port</title>",
            "Reason: You're speaking plain HTTP to an SSL-enabled server port.",
            "Client sent an HTTP request to an HTTPS server.\n",
        ])
    func plainAtTLS(_ page: String) async throws {
        for (url, isTold) in [("http://h:8443/", true), ("https://h/", false)] {
            let transport = ScriptedTransport { _, _ throws(TransportError) in .status(400, [:], page) }
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection(url, over: transport).connect()
            }
            #expect((error?.hint == .text("write https:// in the account's url")) == isTold)
            #expect(error?.failure.kind == .protocolViolation)
        }
    }

    @Test("a plain server: the address is the collection; what is not known is not claimed")
    func plain() async throws {
        let transport = server(["/dav/": root("/dav/")])
        let facts = try await Connection("https://h/dav", over: transport).connect()
        #expect(transport.lines == ["GET /dav/status.php", "PROPFIND /dav/"])
        #expect(facts.root == "https://h/dav/")
        #expect(!facts.isOwnCloudFamily && facts.hasFiles && !facts.hasFileIDs)
        #expect(facts.date?.description == "2026-11-21T10:12:00Z")
    }

    @Test("the ownCloud family: files below remote.php, by the user's name or without it")
    func family() async throws {
        let withIDs = Document.multistatus(["/c/remote.php/webdav/"])
            .replacing("<D:resourcetype>", with: "<id xmlns=\"http://owncloud.org/ns\">1</id><D:resourcetype>")
        let transport = server([
            "/c/status.php": { _ in .status(200, [:], status) },
            "/c/remote.php/webdav/": { _ in .status(207, [:], withIDs) },
        ])
        let facts = try await Connection("https://h/c", over: transport).connect()
        #expect(
            transport.lines == [
                "GET /c/status.php", "PROPFIND /c/remote.php/dav/files/ada/", "PROPFIND /c/remote.php/webdav/",
            ])
        #expect(facts.isOwnCloudFamily && facts.product == "ownCloud" && facts.version == "10.9.1")
    }

    @Test(
        "I3: an address as the server itself names a space is of the family, whatever its status document answers",
        arguments: [200, 401, 404])
    func space(_ code: Int) async throws {
        let withIDs = Document.multistatus(["/dav/spaces/a$b/"])
            .replacing("<D:resourcetype>", with: "<id xmlns=\"http://owncloud.org/ns\">1</id><D:resourcetype>")
        let capabilities =
            #"{"ocs":{"data":{"capabilities":{"core":{"pollinterval":30000}},"version":{"string":"7.0"}}}}"#
        let transport = server([
            "/status.php": { _ in .status(code, [:], status) },
            "/dav/spaces/a$b/": { _ in .status(207, [:], withIDs) },
            "/ocs/v1.php/cloud/capabilities": { _ in .status(200, [:], capabilities) },
        ])
        let connection = Connection("https://h/dav/spaces/a$b", over: transport)
        let facts = try await connection.connect()
        #expect(facts.isOwnCloudFamily && facts.root == "https://h/dav/spaces/a$b/")
        #expect(facts.evidence == (code == 200 ? .statusDocument : .capabilities))
        let rest = code == 200 ? [] : ["GET /ocs/v1.php/cloud/capabilities"]
        #expect(transport.lines == ["GET /status.php", "PROPFIND /dav/spaces/a$b/"] + rest)
        #expect(try await connection.pollWish() == .seconds(30))
        #expect(transport.lines.count == 3)
    }

    @Test(
        "a server that cannot answer now has no poll wish now, and is asked again; a refusal is none for good",
        arguments: [429, 503, 404])
    func wishLater(_ code: Int) async throws {
        let isBusy = Mutex(true)
        let withIDs = Document.multistatus(["/remote.php/webdav/"])
            .replacing("<D:resourcetype>", with: "<id xmlns=\"http://owncloud.org/ns\">1</id><D:resourcetype>")
        let transport = server([
            "/status.php": { _ in .status(200, [:], status) },
            "/remote.php/webdav/": { _ in .status(207, [:], withIDs) },
            "/ocs/v1.php/cloud/capabilities": { _ in
                isBusy.withLock { $0 }
                    ? .status(code)
                    : .status(200, [:], #"{"ocs":{"data":{"capabilities":{"core":{"pollinterval":30000}}}}}"#)
            },
        ])
        let connection = Connection("https://h/", over: transport)
        _ = try await connection.connect()
        #expect(try await connection.pollWish() == nil)
        isBusy.withLock { $0 = false }
        #expect(try await connection.pollWish() == (code == 404 ? nil : .seconds(30)))
    }

    @Test("I3: oc:id alone makes no server one of the family, and a refusal of its capabilities is none of the account")
    func idsAlone() async throws {
        let withIDs = Document.multistatus(["/x/"])
            .replacing("<D:resourcetype>", with: "<id xmlns=\"http://owncloud.org/ns\">1</id><D:resourcetype>")
        for code in [401, 404, 502] {
            let transport = server([
                "/x/": { _ in .status(207, [:], withIDs) },
                "/x/ocs/v1.php/cloud/capabilities": { _ in .status(404) },
                "/ocs/v1.php/cloud/capabilities": { _ in .status(code) },
            ])
            let connection = Connection("https://h/x", over: transport)
            let facts = try await connection.connect()
            #expect(!facts.isOwnCloudFamily && facts.hasFileIDs && connection.refusal == nil)
            let places = ["GET /x/ocs/v1.php/cloud/capabilities", "GET /ocs/v1.php/cloud/capabilities"]
            #expect(transport.lines == ["GET /x/status.php", "PROPFIND /x/"] + places)
            // The connection asks again for what the server could not tell this time.
            #expect((connection.known == nil) == (code == 502))
        }
    }

    @Test("what is known of a server costs the root alone; what does not hold any more is found out anew")
    func known() async throws {
        let transport = server(["/dav/": root("/dav/")])
        let first = Connection("https://h/dav", over: transport)
        _ = try await first.connect()
        var known = try #require(first.known)
        let second = Connection("https://h/dav", over: transport)
        let facts = try await second.connect(knowing: known) { _ in .zero }.facts
        #expect(transport.lines.dropFirst(2) == ["PROPFIND /dav/"])
        #expect(facts.root == "https://h/dav/" && second.known == known)
        // The known facts belong to another account here, and lead to another server below.
        _ = try await Connection("https://h/dav", username: "eve", over: transport).connect(knowing: known) { _ in .zero
        }
        #expect(transport.lines.dropFirst(3) == ["GET /dav/status.php", "PROPFIND /dav/"])
        known.root = "https://elsewhere/dav/"
        _ = try await Connection("https://h/dav", over: transport).connect(knowing: known) { _ in .zero }
        #expect(transport.requests.allSatisfy { $0.address.origin.host == "h" })
        #expect(transport.lines.dropFirst(5) == ["GET /dav/status.php", "PROPFIND /dav/"])
        known.root = "https://h/old/"
        _ = try await Connection("https://h/dav", over: transport).connect(knowing: known) { _ in .zero }
        #expect(transport.lines.dropFirst(7) == ["PROPFIND /old/", "GET /dav/status.php", "PROPFIND /dav/"])
    }

    @Test("C1: credentials go to the account's files, not to the status document, and in no address")
    func credentials() async throws {
        let transport = server(["/": root("/")])
        _ = try await Connection("https://h/", over: transport).connect()
        let requests = transport.requests
        guard case .none = requests[0].authorization, case .basic(let name, let password) = requests[1].authorization
        else {
            Issue.record("credentials are not where they should be")
            return
        }
        #expect(name == "ada" && password == "secret")
        for request in requests { #expect(!"\(request)".contains("secret")) }
        #expect(requests[1].headers.first(name: "Accept-Encoding") == "identity")
        #expect(requests[1].headers.first(name: "User-Agent")?.hasPrefix("Larder/") == true)
        #expect(requests[0].headers.first(name: "X-Request-ID") != requests[1].headers.first(name: "X-Request-ID"))
    }

    @Test("C2: one wrong password is one request; nothing more is sent until there are new credentials")
    func wrongPassword() async throws {
        let transport = server([
            "/": { request in
                if case .basic(_, "better") = request.authorization { return root("/")(request) }
                return .status(401, ["WWW-Authenticate": "Basic realm=\"r\""])
            }
        ])
        let connection = Connection("https://h/", over: transport)
        for _ in 0..<3 {
            let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(error?.kind == .authentication && error?.failure.kind == .denied)
            #expect(error?.concernsAccount == true && error?.isTransient == false)
        }
        await #expect(throws: ConnectionError.self) { try await connection.listings.list(.root) { _ in } }
        #expect(transport.lines == ["GET /status.php", "PROPFIND /"])

        connection.use(.basic(username: "ada", password: "better"))
        _ = try await connection.connect()
        #expect(transport.lines.count == 4)
    }

    @Test("C2: a password that stops working holds everything back after its first refusal")
    func refusedLater() async throws {
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if request.method == "GET", request.address.path == "/status.php" { return .status(404) }
            return number < 2 ? root("/")(request) : .status(401)
        }
        let connection = Connection("https://h/", over: transport)
        _ = try await connection.connect()
        for _ in 0..<5 {
            await #expect(throws: ConnectionError.self) { try await connection.listings.list(.root) { _ in } }
        }
        #expect(transport.requests.count == 3)
    }

    @Test("C2: nothing more is sent once a refusal's head is there, however long the rest of it takes")
    func refusalIsLong() async throws {
        let asks = LateRequest()
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if request.address.path == "/status.php" { return .status(404) }
            return number < 2
                ? root("/")(request) : HTTPAnswer(status: 401, headers: [:], body: AskingBody(asks: asks))
        }
        let connection = Connection("https://h/", over: transport)
        _ = try await connection.connect()
        asks.set { _ = try? await connection.listings.list(.root) { _ in } }
        await #expect(throws: ConnectionError.self) { try await connection.listings.list(.root) { _ in } }
        #expect(transport.requests.count == 3)
    }

    @Test("C2: a request whose connection was closed is not sent again with a password that was refused meanwhile")
    func refusedBeforeRepetition() async throws {
        let transport = ScriptedTransport { request, number throws(TransportError) in
            if request.address.path == "/status.php" { return .status(404) }
            if number < 2 { return root("/")(request) }
            if number == 4 { return .status(401) }
            throw .closed
        }
        // While the request waits to be sent a third time, the server rejects the credentials of another request.
        let asks = LateRequest()
        let clock = HostClock(
            now: { Timestamp(seconds: 1_800_000_000) }, monotonic: { .zero }, sleep: { _ in await asks.make() })
        let connection = Connection("https://h/", clock: clock, over: transport)
        _ = try await connection.connect()
        asks.set { _ = try? await connection.listings.list(.root) { _ in } }
        let error = await #expect(throws: ConnectionError.self) { try await connection.listings.list(.root) { _ in } }
        #expect(error?.kind == .authentication && transport.requests.count == 5)
    }

    @Test("C3: maintenance is known from the status document, a field and an error document")
    func maintenance() async throws {
        let inStatus = server([
            "/status.php": { _ in
                .status(200, [:], status.replacing("\"maintenance\":false", with: "\"maintenance\":true"))
            }
        ])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/", over: inStatus).connect()
        }
        #expect(error?.kind == .maintenance && error?.isTransient == true && error?.failure.kind == .unreachable)
        let answers: [HTTPAnswer] = [
            .status(503, ["X-Nextcloud-Maintenance-Mode": "1", "Retry-After": "120"]),
            .status(503, [:], "<s:message>System in maintenance mode.</s:message>"),
        ]
        for var answer in answers {
            let document = await answer.beginning(atMost: 1_000)
            let error = ConnectionError(
                status: answer.status, headers: answer.headers, document: document, doing: "listing /",
                at: .init(isTLS: true, host: "h", port: 443), now: Timestamp(seconds: 0))
            #expect(error.kind == .maintenance)
        }
    }

    @Test("I13: a status document that fails makes no plain server of one of the family")
    func statusFails() async {
        let transport = server(["/status.php": { _ in .status(502) }, "/": root("/")])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/", over: transport).connect()
        }
        #expect(error?.kind == .serverError && transport.requests.count == 1)
    }

    @Test("C8: redirects within the origin keep method, body and credentials, at most 5")
    func redirects() async throws {
        let transport = server([
            "/": { _ in .status(301, ["Location": "/a"]) },
            "/a": { _ in .status(302, ["Location": "https://H:443/b"]) },
            "/b": { _ in .status(303, ["Location": "c"]) }, "/c": { _ in .status(307, ["Location": "/d"]) },
            "/d": { _ in .status(308, ["Location": "/e/"]) }, "/e/": root("/e/"),
        ])
        let facts = try await Connection("https://h/", over: transport).connect()
        #expect(facts.root == "https://h/e/")
        for request in transport.requests.dropFirst() {
            #expect(request.method == "PROPFIND" && request.body == PropertyRequest.body)
            #expect(request.headers.first(name: "Depth") == "0")
            guard case .basic = request.authorization else {
                Issue.record("credentials were lost")
                return
            }
        }
        let circle = server(["/": { _ in .status(302, ["Location": "/"]) }])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/", over: circle).connect()
        }
        #expect(error?.kind == .redirectRefused && circle.requests.count == 1 + 1 + Redirect.limit)
    }

    @Test(
        "C8: another origin is refused with its address named, and gets nothing",
        arguments: [
            "https://other/x", "http://h/x", "https://h:444/x", "//evil/x", "https://h.evil/x", "javascript://h/",
        ])
    func otherOrigin(_ location: String) async {
        for place in ["/status.php", "/"] {
            let transport = server([place: { _ in .status(302, ["Location": location]) }])
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection("https://h/", over: transport).connect()
            }
            #expect(error?.kind == .redirectRefused && error?.message.contains(location.prefix { $0 != "/" }) == true)
            #expect(error?.failure.kind == .protocolViolation)
            #expect(transport.requests.allSatisfy { $0.address.origin.description == "https://h" })
        }
    }

    @Test("C1: what a redirect carries after its path is shown to nobody")
    func redirectQuery() async {
        let transport = server(["/": { _ in .status(302, ["Location": "https://sso/login?ticket=hush"]) }])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/", over: transport).connect()
        }
        #expect(
            error?.description.contains("https://sso/login") == true && error?.description.contains("hush") == false)
    }

    @Test(
        "I13: what is no listing of the root is an error",
        arguments: [
            (200, "<html>log in</html>", ConnectionError.Kind.protocolViolation),
            (207, "<html>log in</html>", .protocolViolation),
            (200, Document.multistatus(["/"]), .protocolViolation), (207, Document.multistatus([]), .protocolViolation),
            (207, Document.multistatus(["/other/"]), .protocolViolation), (207, "", .protocolViolation),
            (207, String(Document.multistatus(["/"]).dropLast(20)), .protocolViolation), (405, "", .protocolViolation),
            (500, "", .serverError), (404, "", .protocolViolation), (410, "", .protocolViolation),
            (403, "", .forbidden),
            (207, Document.multistatus(["/a"]), .protocolViolation),
        ])
    func nonsense(_ code: Int, _ text: String, _ kind: ConnectionError.Kind) async {
        let transport = server(["/": { _ in .status(code, ["Content-Type": "text/plain"], text) }])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/", over: transport).connect()
        }
        #expect(error?.kind == kind)
    }

    @Test("an address that cannot be used is a config error, without a request and without its password")
    func badAddress() async {
        let transport = server([:])
        for url in ["h/dav", "https://ada:hunter2@h/", "https://h:x/"] {
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection(url, over: transport).connect()
            }
            #expect(error?.failure.kind == .config && error?.description.contains("hunter2") == false)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("an account whose address is a file is refused; one that is a calendar has no files")
    func notAFolder() async throws {
        let file = server(["/f/": { _ in .status(207, [:], Document.multistatus(["/f"])) }])
        let error = await #expect(throws: ConnectionError.self) {
            try await Connection("https://h/f", over: file).connect()
        }
        #expect(error?.kind == .badAddress)
        let calendar = Document.multistatus(["/f/"])
            .replacing(
                "<D:collection/>", with: "<D:collection/><C:calendar xmlns:C=\"urn:ietf:params:xml:ns:caldav\"/>")
        let facts = try await Connection("https://h/f", over: server(["/f/": { _ in .status(207, [:], calendar) }]))
            .connect()
        #expect(!facts.hasFiles)
        // A principal of Xandikos is not a collection, and its root has no resource type.
        let kinds = ["<D:principal/>": "1", "": "1, 3, calendar-access"]
        for (kind, classes) in kinds {
            let text = Document.multistatus(["/f/"]).replacing("<D:collection/>", with: kind)
            let places: [String: @Sendable (HTTPRequest) -> HTTPAnswer] = [
                "/f/": { $0.method == "OPTIONS" ? .status(200, ["DAV": classes]) : .status(207, [:], text) }
            ]
            let facts = try await Connection("https://h/f", over: server(places)).connect()
            #expect(!facts.hasFiles && facts.rootItem.kind == .folder)
        }
    }

    @Test("S23: a connection that closes before the answer is tried again a few times, others are not")
    func closedEarly() async throws {
        let time = TestClock.skipping()
        let flaky = ScriptedTransport { request, number throws(TransportError) in
            if number < 2 { throw .closed }
            return request.method == "GET" ? .status(404) : root("/")(request)
        }
        _ = try await Connection("https://h/", clock: time.host, over: flaky).connect()
        #expect(flaky.requests.count == 4 && time.slept.count == 1)

        for failure in [TransportError.cannotConnect("x"), .timedOut(.head), .unknownHost("h"), .closed] {
            let dead = ScriptedTransport { _, _ throws(TransportError) in throw failure }
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection("https://h/", clock: time.host, over: dead).connect()
            }
            #expect(error?.kind == .unreachable && error?.failure.kind == .unreachable && error?.isTransient == true)
            #expect(dead.requests.count == (failure == .closed ? 3 : 1))
        }
    }
}

extension String {
    /// Returns the string with every occurrence of `old` replaced, without Foundation.
    fileprivate func replacing(_ old: String, with new: String) -> String {
        var result = ""
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
