public import Model
import NIOHTTP1

extension Connection {
    /// Sends a PROPFIND or REPORT and hands out its responses while they arrive.
    ///
    /// As `exchange`: with the account's credentials, to its origin alone. An answer with another status than 207, also a 401 that is not
    /// the account's matter, is handed out with what its error document says, if it has one.
    /// - Throws: `badRequest` for a request that is not sent, such as a REPORT without a body; `protocolViolation` for
    ///   an answer that is encoded, unasked; `authentication`, `serverError` and `maintenance` as `exchange`;
    ///   `unreachable` without an answer.
    public func multistatus(_ request: MultistatusRequest) async throws(ConnectionError) -> MultistatusAnswer {
        let address = try target(request.target)
        let asked: AskedProperties
        do { asked = try AskedProperties(request.properties) } catch {
            throw ConnectionError(.badRequest, "\(PercentCoding.printable(error.text)) is no property's name")
        }
        guard let body = request.body ?? (request.method == "PROPFIND" ? asked.propfind : nil) else {
            throw ConnectionError(.badRequest, "a \(PercentCoding.printable(request.method)) needs a body")
        }
        let question = Question(
            method: try Self.method(request.method),
            headers: ["Depth": request.depth.rawValue, "Content-Type": "application/xml; charset=utf-8"], body: body,
            isGuess: !concernsAccount(address), timeLimit: request.timeLimit,
            doing: "\(request.method) \(address.path)")
        let answer = try await multistatus(question, asked, at: address).answer
        noteAnswer(answer.status, at: address.normalizedPath)
        return answer
    }

    /// The same, with the address that answered.
    func multistatus(
        _ question: Question, _ asked: AskedProperties, at address: ServerAddress
    ) async throws(ConnectionError) -> (answer: MultistatusAnswer, address: ServerAddress) {
        let echo = CredentialsEcho(try usableCredentials().credentials)
        var reply = try await openly(question, at: address)
        reply.answer.body = GuardedBody(reply.answer.body, echo)
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

    /// - Throws: if the answer is encoded, which nobody asked for.
    static func checkCoding(
        of answer: HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin
    ) throws(ConnectionError) {
        guard let coding = answer.headers.first(name: "Content-Encoding"), coding.lowercased() != "identity" else {
            return
        }
        throw ConnectionError(
            .protocolViolation,
            "\(question.doing) at \(origin): the answer is encoded as \(PercentCoding.printable(coding)), unasked")
    }
}
