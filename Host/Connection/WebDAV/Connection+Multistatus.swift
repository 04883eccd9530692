public import Model
import Transfer

extension Connection {
    /// Sends a PROPFIND or REPORT and returns its responses as they arrive.
    ///
    /// Works like `exchange`: with the account's credentials, to the account's origin only. An answer with another
    /// status than 207 is returned with the conditions from its error document, if it has one. So is a 401 that does
    /// not concern the account's password.
    /// - Returns: The answer, whose responses have yet to be read.
    /// - Throws: `badRequest` for a request that is not sent, such as a REPORT without a body; `protocolViolation` for
    ///   an answer that is encoded although no encoding was requested; `authentication`, `serverError` and
    ///   `maintenance` as in `exchange`; `unreachable` without an answer.
    public func multistatus(_ request: MultistatusRequest) async throws(ConnectionError) -> MultistatusAnswer {
        let address = try target(request.target)
        let asked: AskedProperties
        do { asked = try AskedProperties(request.properties) } catch {
            throw ConnectionError(.badRequest, "\(PercentCoding.printable(error.text)) is not a property name")
        }
        guard let body = request.body ?? (request.method == "PROPFIND" ? asked.propfind : nil) else {
            throw ConnectionError(.badRequest, "a \(PercentCoding.printable(request.method)) needs a body")
        }
        let question = Question(
            method: try Self.method(request.method),
            headers: ["Depth": request.depth.rawValue, "Content-Type": "application/xml; charset=utf-8"], body: body,
            isGuess: !knowledge.concernsAccount(address), timeLimit: request.timeLimit,
            expected: .transfer,
            doing: "\(request.method) \(address.path)")
        let answer = try await multistatus(question, asked, at: address).answer
        noteAnswer(answer.status, at: address.normalizedPath)
        return answer
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
}
