import FoundationEssentials
import Logging
import Model
import Transfer

extension Connection {
    /// Returns how long a server of the ownCloud family asks clients to wait between two polls, according to its
    /// capabilities document.
    ///
    /// Asks the server until it was able to answer. The answer is kept as long as the facts about the server hold.
    /// - Returns: The wait; nil if the document names none, or the server answered with an error status.
    /// - Throws: `unreachable` if the server does not answer or `connect()` has not found the root; `authentication` if
    ///   the server rejects the credentials; and the other kinds of a request without an answer.
    public func pollWish() async throws(ConnectionError) -> Duration? {
        if let known = known?.pollWish { return known == 0 ? nil : .milliseconds(known) }
        let (found, isSure) = try await capabilities(at: RootCandidates.home(of: try root()), isGuess: false)
        if isSure { learn(.pollWish(found?.wishMilliseconds ?? 0)) }
        return found?.pollWish
    }

    /// Returns the names that a server of the ownCloud family does not take. Asks for its capabilities if they were not
    /// read.
    /// - Returns: nil if the server lists none, or could not answer.
    /// - Throws: As ``pollWish()``.
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

/// The part of a capabilities document of the ownCloud family that Larder reads.
struct Capabilities: Decodable, Equatable {
    private var ocs: OCS

    private struct OCS: Decodable, Equatable { var data: Contents }
    private struct Contents: Decodable, Equatable {
        var capabilities: Parts
        var version: Version?
    }
    private struct Parts: Decodable, Equatable { var core: Core? }
    private struct Core: Decodable, Equatable {
        var pollinterval: Int64?
        var status: Status?
    }
    private struct Status: Decodable, Equatable {
        var productname: String?
        var versionstring: String?
    }
    private struct Version: Decodable, Equatable { var string: String? }

    init?(json: [UInt8]) {
        do { self = try JSONDecoder().decode(Capabilities.self, from: Data(json)) } catch { return nil }
    }

    /// The wait between two polls that the server asks for; nil if the server names none.
    var pollWish: Duration? { wishMilliseconds == 0 ? nil : .milliseconds(wishMilliseconds) }

    /// The wait in milliseconds; 0 if the server names none. It is at most one day.
    ///
    /// The document names milliseconds. Old versions name 60, which meant seconds and was no request. Values up to 60
    /// therefore count as none.
    var wishMilliseconds: Int64 {
        ocs.data.capabilities.core?.pollinterval.flatMap {
            $0 > 60 ? min($0, OutsideNumber.longestWait.nanoseconds / 1_000_000) : nil
        } ?? 0
    }

    var product: String? { ocs.data.capabilities.core?.status?.productname }
    var version: String? { ocs.data.version?.string ?? ocs.data.capabilities.core?.status?.versionstring }
}
