public import Model
import Transfer

extension LoopRequests {
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
            isGuess: !wire.knowledge.concernsAccount(address), timeLimit: request.timeLimit,
            expected: .transfer,
            doing: "\(request.method) \(address.path)")
        let answer = try await wire.multistatus(question, asked, at: address).answer
        noteAnswer(answer.status, at: address.normalizedPath)
        return answer
    }
}
