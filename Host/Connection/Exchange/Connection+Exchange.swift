public import Model
import NIOHTTP1

extension Connection {
    /// Makes any request to the account's server, with its credentials, and hands out the answer when its head is there.
    ///
    /// Redirects are followed within the origin, with method and body kept. It does not wait for listings and downloads: a poll that
    /// waited for a large download would come late.
    /// - Returns: an answer with any status but 429, 503, the redirects, and a 401 where the account's password is meant: below its
    ///   files, and on a server of the ownCloud family wherever it refuses the account's files too. Elsewhere a 401 may be somebody
    ///   else's door.
    /// - Throws: `badRequest` for a request that is not sent, such as one with another method than ``methods``; `protocolViolation` for
    ///   an answer that repeats the account's credentials; `authentication` for such a 401, after which nothing is sent until there
    ///   are new credentials; `serverError` or `maintenance` for a 429 and a 503, with the wait that the server asks for.
    public func exchange(_ request: PlainRequest) async throws(ConnectionError) -> PlainAnswer {
        let address = try target(request.target)
        let question = Question(
            method: try Self.method(request.method), headers: try Self.fields(request.headers), body: request.body,
            isIdempotent: Self.idempotent.contains(request.method), isGuess: !concernsAccount(address),
            timeLimit: request.timeLimit, doing: "\(request.method) \(address.path)")
        let echo = CredentialsEcho(try usableCredentials().credentials)
        var reply = try await openly(question, at: address)
        if reply.answer.status == 401 { try await confirmRefusal(&reply.answer) }
        let headers = reply.answer.headers.map { ($0.name, $0.value) }
        guard !headers.contains(where: { echo.isIn($0.1) }) else {
            throw ConnectionError(.repeatsCredentials, doing: question.doing, at: address.origin)
        }
        return PlainAnswer(
            status: reply.answer.status, headers: headers,
            body: BodyReader(GuardedBody(reply.answer.body, echo), doing: question.doing, at: address.origin))
    }

    /// Whether a refusal at an address is surely one of the account's credentials.
    func concernsAccount(_ address: ServerAddress) -> Bool {
        knownRoot().map { address.path.utf8.starts(with: $0.root.path.utf8) } ?? true
    }

    /// Decides whom a 401 concerns that came away from the account's files. A server of the ownCloud family has one door: it is asked for
    /// the files, once. Does it take the credentials there, what it refused is another matter.
    /// - Throws: `authentication` if it refuses them there too, after which nothing is sent; what else kept it from telling.
    func confirmRefusal(_ answer: inout HTTPAnswer) async throws(ConnectionError) {
        guard let (root, isFamily) = knownRoot(), isFamily else { return }
        // Read, it leaves its connection to the question.
        _ = await answer.beginning(atMost: 65_536)
        var reply = try await openly(
            Question(method: "PROPFIND", headers: ["Depth": "0"], timeLimit: timeLimits.greeting, doing: "PROPFIND /"),
            at: root)
        _ = await reply.answer.beginning(atMost: 65_536)
    }

    /// Asks, and throws for the statuses that are the account's matter.
    func openly(_ question: Question, at address: ServerAddress) async throws(ConnectionError) -> Reply {
        var reply = try await ask(question, at: address)
        guard reply.answer.status != 429, reply.answer.status != 503 else {
            throw await error(for: &reply.answer, question, at: address.origin)
        }
        return reply
    }

    /// The address that a target means.
    func target(_ text: String) throws(ConnectionError) -> ServerAddress {
        let account = try bookmarkAddress()
        let shown = PercentCoding.printable(String(text.prefix { $0 != "?" }))
        var target: ServerAddress
        do {
            // A path that begins with two slashes is no host.
            target =
                text.hasPrefix("/")
                ? try ServerAddress("\(account.origin)\(text)") : try ServerAddress(text)
        } catch {
            throw ConnectionError(.badRequest, "\(shown) is neither a path from the server's root nor an address")
        }
        guard target.origin == account.origin else {
            throw ConnectionError(
                .badRequest, "\(shown) is not at \(account.origin): nothing was sent there",
                hint: "if that is the right server, set the account's url to it")
        }
        target.path = PercentCoding.withoutTraps(target.path)
        return target
    }

    private static let idempotent: Set<String> = [
        "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PROPFIND", "REPORT", "PROPPATCH", "MKCOL", "MKCALENDAR", "SEARCH",
    ]

    /// The methods that are sent for somebody else. TRACE, which has a server repeat the request with the account's password, is none
    /// of them, and neither is what a server has under other names.
    static let methods = idempotent.union(["POST", "PATCH", "COPY", "MOVE"])

    static func method(_ text: String) throws(ConnectionError) -> String {
        guard methods.contains(text) else {
            throw ConnectionError(
                .badRequest,
                "\(PercentCoding.printable(text)) is not sent: the methods are \(methods.sorted().joined(separator: ", "))"
            )
        }
        return text
    }

    private static func fields(_ headers: [(name: String, value: String)]) throws(ConnectionError) -> HTTPHeaders {
        var fields = HTTPHeaders()
        for (name, value) in headers {
            let shown = PercentCoding.printable(name)
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter),
                value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f })
            else { throw ConnectionError(.badRequest, "the header \(shown) cannot be sent as it is") }
            guard !ours.contains(name.lowercased()) else {
                throw ConnectionError(.badRequest, "the header \(shown) is not set from outside")
            }
            fields.add(name: name, value: value)
        }
        return fields
    }

    private static let ours: Set<String> = [
        "authorization", "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
        "trailer", "expect", "proxy-authorization", "proxy-connection", "user-agent", "accept-encoding", "x-request-id",
    ]
}

extension UInt8 {
    /// RFC 9110, section 5.6.2.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
