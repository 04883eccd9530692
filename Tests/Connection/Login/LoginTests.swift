import Logging
import Model
import TestSupport
import Testing
import Transfer

@testable import Connection

/// Tests of the exchange of challenges and answers, as values and over a scripted server.
struct LoginTests {
    private static let password = Credentials.password(username: "ada", password: "secret")
    private static let digest = Credentials.digest(username: "ada", password: "secret")

    private func challenge(_ fields: String...) -> HTTPHeaders { HTTPHeaders(fields.map { ("WWW-Authenticate", $0) }) }

    private func digest(_ nonce: String, realm: String = "r", stale: Bool = false) -> String {
        "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", qop=\"auth\"" + (stale ? ", stale=true" : "")
    }

    /// Returns the kind of a proof: nothing, Basic or Digest, with nonce and count.
    private func shown(_ authorization: Authorization) -> String {
        switch authorization {
        case .none: return "none"
        case .basic: return "basic"
        case .bearer: return "bearer"
        case .digest(let answer):
            let count = answer.field.firstRange(of: "nc=").map { answer.field[$0.upperBound...].prefix(8) }
            return "\(answer.challenge.realm) \(answer.challenge.nonce) \(count.flatMap { Int($0, radix: 16) } ?? 0)"
        }
    }

    /// Logs in for one request as the server says.
    /// - Returns: What was sent, and the reason if the login was refused.
    private func request(
        _ login: inout Login, isGuess: Bool = false, _ answers: HTTPHeaders?...
    ) -> (sent: [String], refused: Login.Refusal?) {
        var (sent, kind) = ([String](), Login.Kind?.none)
        for answer in answers {
            let proof = login.authorization("GET", "/", by: kind) { "c" }
            sent.append(shown(proof))
            guard let answer else {
                login.noteAnswer(200, [:], after: proof) { "c" }
                return (sent, nil)
            }
            switch login.decide(answer, after: proof, isGuess: isGuess, random: { "c" }) {
            case .again(let next): kind = next
            case .refused(let why): return (sent, why)
            }
        }
        return (sent, nil)
    }

    @Test("C10: by itself a password goes out unasked over TLS and to this machine only", arguments: [true, false])
    func unasked(isProtected: Bool) {
        var login = Login(Self.password, isProtected: isProtected)
        #expect(request(&login, nil).sent == [isProtected ? "basic" : "none"])
        #expect(request(&login, challenge("Basic realm=x"), nil).sent.last == "basic")
        // What was found is kept.
        #expect(isProtected || request(&login, nil).sent == ["basic"])
        var basic = Login(.basic(username: "ada", password: "secret"), isProtected: isProtected)
        #expect(request(&basic, nil).sent == ["basic"])
        var digest = Login(Self.digest, isProtected: isProtected)
        #expect(request(&digest, nil).sent == ["none"])
    }

    @Test("C10: Digest is taken before Basic, SHA-256 before MD5, and the count rises with each request")
    func best() {
        var login = Login(Self.password, isProtected: false)
        let all = challenge(
            "Negotiate", "Basic realm=x", digest("m"), "Digest realm=r, nonce=s, qop=auth, algorithm=SHA-256")
        #expect(request(&login, all, nil).sent == ["none", "r s 1"])
        #expect(request(&login, nil).sent == ["r s 2"] && request(&login, nil).sent == ["r s 3"])
        var alone = Login(Self.password, isProtected: true)
        #expect(request(&alone, challenge(digest("n")), nil).sent == ["basic", "r n 1"])
        #expect(request(&alone, nil).sent == ["r n 2"])
    }

    @Test("C2 C10: a wrong password is tried once with Digest: the first 401 only asks")
    func wrong() {
        for credentials in [Self.password, Self.digest] {
            var login = Login(credentials, isProtected: false)
            let result = request(&login, challenge(digest("a")), challenge(digest("b")), nil)
            #expect(result.sent == ["none", "r a 1"] && result.refused == .credentials)
        }
        // With Basic on offer too, the rejected Basic was the one try.
        var login = Login(Self.password, isProtected: true)
        let result = request(&login, challenge(digest("a"), "Basic realm=x"), nil)
        #expect(result.sent == ["basic"] && result.refused == .credentials)
    }

    @Test("C10: a nonce that is too old, or of a server that forgot it, is replaced; that is no rejection")
    func stale() {
        var login = Login(Self.digest, isProtected: false)
        #expect(request(&login, challenge(digest("a")), challenge(digest("b", stale: true)), nil).refused == nil)
        #expect(request(&login, challenge(digest("c", stale: true)), nil).sent == ["r b 2", "r c 1"])
        // The server was started anew: it accepted this nonce before.
        #expect(request(&login, challenge(digest("d")), nil).sent == ["r c 2", "r d 1"])
        let changed = request(&login, challenge(digest("e")), challenge(digest("f")), nil)
        #expect(changed.sent == ["r d 2", "r e 1"] && changed.refused == .credentials)
    }

    @Test("C10: of requests that share a nonce for one use, the others get a nonce of their own; a wrong password ends")
    func oneUse() {
        var login = Login(Self.digest, isProtected: true)
        #expect(request(&login, challenge(digest("a")), nil).refused == nil)
        // The server took "a". Both requests have the nonce "b", and the server takes that of the second.
        #expect(request(&login, challenge(digest("b"))).sent == ["r a 2"])
        func decision(_ nonce: String, _ sent: Authorization, _ login: inout Login) -> Login.Decision {
            login.decide(challenge(digest(nonce)), after: sent, isGuess: false) { "c" }
        }
        let (first, second) = (login.authorization("GET", "/") { "c" }, login.authorization("GET", "/") { "c" })
        login.noteAnswer(429, [:], after: second) { "c" }
        let own = DigestChallenge(Challenge.all(in: challenge(digest("d")))[0])!
        #expect(decision("d", first, &login) == .again(.digest(own)))
        // Another request takes the nonce before the one that it was given to, and a third gets a new one meanwhile.
        _ = login.authorization("GET", "/") { "c" }
        #expect(decision("f", second, &login) != .refused(.credentials))
        let late = login.authorization("GET", "/", by: .digest(own)) { "c" }
        #expect(decision("g", late, &login) != .refused(.credentials))
        #expect(request(&login, challenge(digest("e")), nil).refused == .credentials)
    }

    @Test("C10: the nonce for the next request is taken from an answer, once")
    func nextNonce() {
        var login = Login(Self.digest, isProtected: false)
        _ = request(&login, challenge(digest("a")), nil)
        let (first, second) = (
            login.authorization("GET", "/") { "c" }, login.authorization("GET", "/") { "c" }
        )
        login.noteAnswer(200, ["Authentication-Info": "qop=auth, nextnonce=\"b, c\""], after: first) { "d" }
        login.noteAnswer(200, ["Authentication-Info": "nextnonce=\"e\""], after: second) { "d" }
        #expect(request(&login, nil).sent == ["r b, c 1"])
    }

    @Test("C10: another realm's challenge at a guessed address is answered there and changes nothing else")
    func realms() {
        var login = Login(Self.digest, isProtected: false)
        #expect(request(&login, isGuess: true, challenge(digest("z", realm: "q")), nil).sent == ["none", "q z 1"])
        _ = request(&login, challenge(digest("a")), nil)
        let guess = request(&login, isGuess: true, challenge(digest("z", realm: "q")), nil)
        #expect(guess.sent == ["r a 2", "q z 1"] && guess.refused == nil)
        #expect(request(&login, nil).sent == ["r a 3"])
    }

    @Test("C10: once Digest was offered, a password is not sent as it is just because that is asked for")
    func downgrade() {
        var login = Login(Self.password, isProtected: false)
        _ = request(&login, challenge(digest("a")), nil)
        let result = request(&login, challenge("Basic realm=x"), nil)
        #expect(result.sent == ["r a 2"] && result.refused == .kinds(["Basic"]))
        var protected = Login(Self.password, isProtected: true)
        _ = request(&protected, challenge(digest("a")), nil)
        #expect(request(&protected, challenge("Basic realm=x"), nil).sent == ["r a 2", "basic"])
    }

    @Test("C10: a server without a kind of login that the account can use is named with what it offers")
    func noKind() {
        let cases: [(Credentials, String, Login.Refusal)] = [
            (Self.password, "Negotiate, NTLM", .kinds(["Negotiate", "NTLM"])),
            (Self.password, "Digest realm=r, nonce=n, algorithm=SHA-512-256", .kinds(["Digest"])),
            (Self.digest, "Basic realm=x", .kinds(["Basic"])), (.bearer(token: "t"), digest("n"), .kinds(["Digest"])),
            (.basic(username: "a", password: "b"), digest("n"), .kinds(["Digest"])),
            (.bearer(token: "t"), "Basic realm=x", .credentials), (.none, "Basic realm=x", .noCredentials),
            (.none, "Negotiate", .kinds(["Negotiate"])),
        ]
        for (credentials, field, refusal) in cases {
            var login = Login(credentials, isProtected: false)
            #expect(request(&login, challenge(field), nil).refused == refusal, "\(field)")
        }
        let origin = ServerAddress.Origin(isTLS: true, host: "h", port: 443)
        let error = ConnectionError(.kinds(["Negotiate", "NTLM"]), at: origin)
        #expect(error.message == "https://h offers no kind of login that the account can use, only Negotiate, NTLM")
        #expect(error.kind == .authentication && error.status == 401)
    }

    // MARK: Over a connection

    /// A server that wants Digest with a nonce of its own choice.
    private func server(_ nonce: String, takes isRight: @escaping @Sendable (DigestAnswer) -> Bool) -> ScriptedTransport
    {
        let asked = challenge(digest(nonce))
        return ScriptedTransport { request, _ throws(TransportError) in
            if request.address.path == "/status.php" { return .status(404) }
            guard case .digest(let answer) = request.authorization, isRight(answer) else { return .status(401, asked) }
            return .status(207, [:], Document.multistatus([request.address.path]))
        }
    }

    @Test("C2 C10: a connection asks, answers, and goes on with one request each; nothing is held back")
    func connection() async throws {
        let transport = server("n") { _ in true }
        let connection = Connection("http://h/dav", credentials: Self.password, over: transport)
        _ = try await connection.connect()
        for _ in 0..<2 { _ = try await connection.listings.list(.root) { _ in } }
        #expect(transport.requests.map { shown($0.authorization) } == ["none", "none", "r n 1", "r n 2", "r n 3"])
        #expect(transport.requests[2].authorization.field?.contains("uri=\"/dav/\"") == true)
    }

    @Test("C2 C10: over a connection a wrong password is one answer, and then nothing until there is another")
    func wrongOverConnection() async throws {
        let transport = server("n") { $0.field.contains("username=\"eve\"") }
        let connection = Connection("http://h/", credentials: Self.digest, over: transport)
        for _ in 0..<3 {
            let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(error?.kind == .authentication && error?.message.contains("does not accept") == true)
        }
        #expect(transport.requests.map { shown($0.authorization) } == ["none", "none", "r n 1"])
        connection.use(.digest(username: "eve", password: "x"))
        _ = try await connection.connect()
    }

    @Test(
        "C10 C11: a password goes unasked to this machine, but not to a proxy on the way to it",
        arguments: ["http://127.0.0.1:8080/", "http://localhost/", "http://[::1]/", "http://127.0.0.1.example/"])
    func unaskedThroughProxy(_ url: String) async throws {
        for proxy in [nil, Proxy(.http, host: "127.0.0.1", port: 1)] {
            let transport = ScriptedTransport { request, _ throws(TransportError) in
                request.method == "GET" ? .status(404) : .status(207, [:], Document.multistatus(["/"]))
            }
            var bookmark = Bookmark.at(url)
            bookmark.proxy = proxy
            let connection = Connection(
                bookmark: bookmark, credentials: Self.password, limits: Limits(), clock: TestClock.skipping().host,
                logger: Logger(label: "test"), timeLimits: TimeLimits(), transport: transport)
            _ = try await connection.connect()
            let isSent = proxy == nil && !url.hasSuffix("example/")
            #expect(shown(transport.requests[1].authorization) == (isSent ? "basic" : "none"))
        }
    }

    @Test("C10: a server that calls every nonce too old is given up after a few requests, and not as a wrong password")
    func alwaysStale() async throws {
        let stale = challenge(digest("n", stale: true))
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            request.address.path == "/status.php" ? .status(404) : .status(401, stale)
        }
        let connection = Connection("http://h/", credentials: Self.digest, over: transport)
        let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
        #expect(error?.kind == .protocolViolation && transport.requests.count == 1 + Login.mostTries)
        #expect(connection.refusal == nil)
    }

    @Test("C10: a request that is sent again after a closed connection has a count of its own")
    func closed() async throws {
        let transport = ScriptedTransport { [asked = challenge(digest("n"))] request, number throws(TransportError) in
            if request.address.path == "/status.php" { return .status(404) }
            if case .none = request.authorization { return .status(401, asked) }
            if number < 4 { throw .closed }
            return .status(207, [:], Document.multistatus(["/"]))
        }
        _ = try await Connection("http://h/", credentials: Self.digest, over: transport).connect()
        #expect(transport.requests.dropFirst(2).map { shown($0.authorization) } == ["r n 1", "r n 2", "r n 3"])
    }

    @Test("C1 C10: an answer that repeats the hash of a login is not handed on")
    func echo() async throws {
        let transport = ScriptedTransport { [asked = challenge(digest("n"))] request, _ throws(TransportError) in
            guard case .digest(let answer) = request.authorization else { return .status(401, asked) }
            return .status(200, [:], "Authorization: \(answer.field)")
        }
        let connection = Connection("https://h/", credentials: Self.digest, over: transport)
        let answer = try await connection.loopRequests.exchange(PlainRequest("GET", "/debug"))
        let error = await #expect(throws: ConnectionError.self) { while try await answer.next() != nil {} }
        #expect(error?.kind == .protocolViolation)
    }
}
