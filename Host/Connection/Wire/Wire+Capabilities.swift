import Logging
import Model
import Transfer

extension Wire {
    /// Returns the names that a server of the ownCloud family does not take. Asks for its capabilities if they were not
    /// read.
    /// - Returns: nil if the server lists none, or could not answer.
    /// - Throws: As ``Connection/pollWish()``.
    func forbiddenNames() async throws(ConnectionError) -> ForbiddenNames? {
        guard knowledge.isFamily else { return nil }
        if let names = knowledge.forbiddenNames { return names }
        do throws(ConnectionError) {
            let (_, isSure) = try await capabilities(at: RootCandidates.home(of: try root()), isGuess: false)
            if isSure, knowledge.forbiddenNames == nil { learn(.noForbiddenNames) }
        } catch {
            // The server refuses by itself what it does not take.
            guard error.kind == .redirectRefused || error.kind == .protocolViolation else { throw error }
            logger.debug("\(error.message)")
            learn(.noForbiddenNames)
        }
        return knowledge.forbiddenNames
    }

    /// Asks for the capabilities of a server at an address.
    /// - Parameters:
    ///   - home: The folder that holds `ocs`.
    ///   - isGuess: Whether it is unknown that the server has capabilities.
    /// - Returns: The capabilities, nil if there are none; and whether this result is certain, because the server was
    ///   able to answer. What they say of uploads and of names is kept.
    func capabilities(
        at home: ServerAddress, isGuess: Bool
    ) async throws(ConnectionError) -> (found: Capabilities?, isSure: Bool) {
        var question = Question(
            method: "GET", headers: ["OCS-APIRequest": "true"], isGuess: isGuess, timeLimit: timeLimits.greeting,
            expected: .document, doing: "asking for capabilities")
        var place = home.appending("ocs/v1.php/cloud/capabilities")
        place.query = "format=json"
        try await enterGate(&question, .listing)
        defer { question.turn?.end() }
        var reply: Reply
        do {
            reply = try await ask(question, at: place)
        } catch  where isGuess && error.kind == .redirectRefused {
            return (nil, true)
        }
        guard reply.answer.status == 200 else {
            let error = await error(for: &reply.answer, question, at: place.origin)
            return (nil, !error.isTransient)
        }
        do {
            let document = try await document(of: &reply.answer, atMost: 1 << 20, question, at: place.origin)
            learn(
                .capabilities(
                    TusSupport(json: document), ChunkOffer(json: document), ForbiddenNames(json: document)))
            return (Capabilities(json: document), true)
        } catch  where error.kind == .protocolViolation {
            logger.debug("\(error.message)")
            return (nil, true)
        }
    }
}
