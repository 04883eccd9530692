public import Model
import Transfer

/// The requests that event loops make of an account's server.
public struct LoopRequests: Sendable {
    let wire: Wire
    let resolver: ServiceResolver

    /// Sends any request to the account's server with the account's credentials, and returns the answer when its head
    /// has arrived.
    ///
    /// Follows redirects within the origin, with method and body kept. Does not wait for listings and downloads: a poll
    /// that waits for a large download comes late.
    /// - Returns: An answer with any status except 429, 503, redirects, and a 401 that concerns the account's password.
    ///   A 401 concerns the password below the account's files; on a server of the ownCloud family it also does
    ///   elsewhere, if the server rejects the credentials for the account's files too. Any other 401 may come from a
    ///   service with credentials of its own.
    /// - Throws: `badRequest` for a request that is not sent, such as one with a method that is not in
    ///   `PlainRequest.methods`;
    ///   `protocolViolation` for an answer that repeats the account's credentials; `authentication` for a 401 that
    ///   concerns the password, after which nothing is sent until there are new credentials; `serverError` or
    ///   `maintenance` for a 429 or 503, with the wait that the server asks for.
    public func exchange(_ request: PlainRequest) async throws(ConnectionError) -> PlainAnswer {
        let address = try target(request.target)
        try check(request)
        var fields = HTTPHeaders()
        for (name, value) in request.headers { fields.add(name: name, value: value) }
        let question = Question(
            method: request.method, headers: fields, body: request.body,
            isIdempotent: PlainRequest.idempotentMethods.contains(request.method),
            isGuess: !wire.knowledge.concernsAccount(address),
            timeLimit: request.timeLimit, doing: "\(request.method) \(address.path)")
        var reply = try await wire.openly(question, at: address)
        let echo = CredentialsEcho(reply.authorization)
        if reply.answer.status == 401 { try await wire.confirmRefusal(&reply.answer) }
        let headers = reply.answer.headers.map { ($0.name, $0.value) }
        guard !headers.contains(where: { echo.isIn($0.1) }) else {
            throw ConnectionError(.repeatsCredentials, doing: question.doing, at: address.origin)
        }
        return PlainAnswer(
            status: reply.answer.status, headers: headers,
            body: BodyReader(GuardedBody(reply.answer.body, echo), doing: question.doing, at: address.origin))
    }

    /// Returns the address that a target names.
    /// - Throws: `badRequest` if the target is not an address or is at another origin.
    func target(_ text: String) throws(ConnectionError) -> ServerAddress {
        let account = try wire.bookmarkAddress()
        let shown = PercentCoding.printable(String(text.prefix { $0 != "?" }))
        var target: ServerAddress
        do {
            // A path that begins with two slashes is not taken for a host.
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

    static func method(_ text: String) throws(ConnectionError) -> String {
        guard PlainRequest.methods.contains(text) else {
            throw ConnectionError(
                .badRequest,
                "\(PercentCoding.printable(text)) is not sent: the allowed methods are "
                    + "\(PlainRequest.methods.sorted().joined(separator: ", "))"
            )
        }
        return text
    }

    /// Checks what is sent of a request besides its target.
    /// - Throws: `badRequest` if it is not sent.
    private func check(_ request: PlainRequest) throws(ConnectionError) {
        switch request.problem {
        case .method: _ = try Self.method(request.method)
        case .header(let name):
            throw ConnectionError(.badRequest, "the header \(PercentCoding.printable(name)) cannot be sent as it is")
        case .hostsHeader(let name):
            throw ConnectionError(.badRequest, "the header \(PercentCoding.printable(name)) is not set from outside")
        case nil: break
        }
    }
}
