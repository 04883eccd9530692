import Model
import NIOHTTP1

extension Connection {
    /// Makes any request to the account's server, with its credentials, and hands out the answer when its head is there.
    ///
    /// Redirects are followed within the origin, with method and body kept. It does not wait for listings and downloads: a poll that
    /// waited for a large download would come late.
    /// - Returns: an answer with any status but 429, 503, the redirects, and a 401 where the account's password is meant: below its
    ///   files, and everywhere on a server of the ownCloud family. Elsewhere a 401 may be somebody else's door.
    /// - Throws: `badRequest` for a request that is not sent; `authentication` for a 401, after which nothing is sent until there
    ///   are new credentials; `serverError` or `maintenance` for a 429 and a 503, with the wait that the server asks for.
    public func exchange(_ request: PlainRequest) async throws(ConnectionError) -> PlainAnswer {
        let address = try target(request.target)
        let question = Question(
            method: try Self.method(request.method), headers: try Self.fields(request.headers), body: request.body,
            isIdempotent: Self.idempotent.contains(request.method), isGuess: !concernsAccount(address),
            timeLimit: request.timeLimit, doing: "\(request.method) \(address.path)")
        let reply = try await openly(question, at: address)
        return PlainAnswer(
            status: reply.answer.status, headers: reply.answer.headers.map { ($0.name, $0.value) },
            body: BodyReader(reply.answer.body, doing: question.doing, at: address.origin))
    }

    /// Whether a refusal at an address is one of the account's credentials.
    private func concernsAccount(_ address: ServerAddress) -> Bool {
        guard let (root, isFamily) = knownRoot() else { return true }
        return isFamily || address.path.utf8.starts(with: root.path.utf8)
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

    static func method(_ text: String) throws(ConnectionError) -> String {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isTokenCharacter) else {
            throw ConnectionError(.badRequest, "\(PercentCoding.printable(text)) is no method")
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
