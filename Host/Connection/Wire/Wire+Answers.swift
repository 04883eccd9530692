import Model
import Transfer

/// What several parts of the connection ask for, and how they read answers.
extension Wire {
    /// Finds out whether a 401 for an address away from the account's files concerns the credentials.
    ///
    /// A server of the ownCloud family has one set of credentials for everything, so it is asked once for the account's
    /// files. If it accepts the credentials there, the 401 had another reason.
    /// - Throws: `authentication` if the server rejects the credentials there too, after which nothing is sent; or the
    ///   error of a request that found no answer.
    func confirmRefusal(_ answer: inout HTTPAnswer) async throws(ConnectionError) {
        let knowledge = knowledge
        guard let root = knowledge.root, knowledge.isFamily else { return }
        // After the body is read, the question can use the same connection.
        _ = await answer.beginning(atMost: 65_536)
        var reply = try await openly(
            Question(
                method: "PROPFIND", headers: ["Depth": "0"], timeLimit: timeLimits.greeting,
                expected: .document, doing: "PROPFIND /"),
            at: root)
        _ = await reply.answer.beginning(atMost: 65_536)
    }

    /// Asks, and throws for the statuses 429 and 503, which concern the whole account.
    func openly(_ question: Question, at address: ServerAddress) async throws(ConnectionError) -> Reply {
        var reply = try await ask(question, at: address)
        guard reply.answer.status != 429, reply.answer.status != 503 else {
            throw await error(for: &reply.answer, question, at: address.origin)
        }
        return reply
    }

    /// Sends a PROPFIND or REPORT, and also returns the address that answered.
    func multistatus(
        _ question: Question, _ asked: AskedProperties, at address: ServerAddress
    ) async throws(ConnectionError) -> (answer: MultistatusAnswer, address: ServerAddress) {
        var reply = try await openly(question, at: address)
        reply.answer.body = GuardedBody(reply.answer.body, CredentialsEcho(reply.authorization))
        guard reply.answer.status == 207 else {
            let document = await reply.answer.beginning(atMost: 65_536)
            if reply.answer.status == 401 { try await confirmRefusal(&reply.answer) }
            let answer = MultistatusAnswer(
                status: reply.answer.status,
                body: BodyReader(reply.answer.body, doing: question.doing, at: address.origin), reader: nil,
                end: MultistatusEnd(errors: DAVErrorReader.conditions(in: document)))
            return (answer, reply.address)
        }
        try Self.checkCoding(of: reply.answer, question, at: address.origin)
        let answer = MultistatusAnswer(
            status: 207, body: BodyReader(reply.answer.body, doing: question.doing, at: address.origin),
            reader: try MultistatusReader(asked, asked: reply.address))
        return (answer, reply.address)
    }

    /// Throws `protocolViolation` if the answer is encoded, because no request asks for an encoding.
    static func checkCoding(
        of answer: HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin
    ) throws(ConnectionError) {
        guard let coding = answer.headers.contentCoding else { return }
        throw ConnectionError(
            .protocolViolation,
            "\(question.doing) at \(origin): the answer is encoded as \(PercentCoding.printable(coding)), which was "
                + "not requested")
    }

    /// Returns what a resource says that it can do, in lower case (RFC 4918, section 10.1); empty if the resource does
    /// not say.
    /// - Throws: The error that kept the server from telling.
    func complianceClasses(of place: ServerAddress) async throws(ConnectionError) -> Set<String> {
        let question = Question(method: "OPTIONS", timeLimit: timeLimits.greeting, doing: "OPTIONS \(place.path)")
        var reply = try await openly(question, at: place)
        guard (200..<300).contains(reply.answer.status) else {
            let error = await error(for: &reply.answer, question, at: place.origin)
            if error.isTransient { throw error }
            return []
        }
        return Set(reply.answer.headers[canonicalForm: "DAV"].map { $0.lowercased() })
    }

    /// Returns what the account's root says that it can do, and asks it once.
    func rootClasses() async throws(ConnectionError) -> Set<String> {
        if let classes = knowledge.rootClasses { return classes }
        let classes = try await complianceClasses(of: try root())
        learn(.rootClasses(classes))
        return classes
    }

    /// Returns the manners by which something is about to be written. Asks what is decided by the answer to a question.
    func knownManners() async throws(ConnectionError) -> WritingManners {
        if knowledge.mannersAreOpen { _ = try await rootClasses() }
        return knowledge.manners
    }

    func notListed(_ reply: inout Reply, _ question: Question) async -> ConnectionError {
        guard (200..<300).contains(reply.answer.status) else {
            return await error(for: &reply.answer, question, at: reply.address.origin)
        }
        let via = reply.wasRedirected ? ", after a redirect to \(reply.address.withoutQuery)" : ""
        return ConnectionError(
            .protocolViolation,
            "\(reply.address.origin) answered \(reply.answer.status) instead of a listing while "
                + "\(question.doing)\(via)",
            hint:
                "check the account's url: it must be a WebDAV collection; a login page or a proxy may be in between",
            status: reply.answer.status)
    }

    func nextChunk(
        of answer: inout HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin
    ) async throws(ConnectionError) -> [UInt8]? {
        do { return try await answer.body.next() } catch {
            throw ConnectionError(error, doing: question.doing, at: origin)
        }
    }
}
