import FoundationEssentials
import Model
import NIOHTTP1

extension Connection {
    /// How long a server of the ownCloud family wishes to be left alone between two polls, by its capabilities document; nil if it
    /// says nothing of it. Asked until the server could answer, as long as what is known of it holds.
    /// - Throws: `unreachable` if the server does not answer or was not connected to yet, `authentication` if it
    ///   refuses the credentials, and the other kinds of a request that gets no answer. An answer with an error status
    ///   counts as no wish.
    public func pollWish() async throws(ConnectionError) -> Duration? {
        if let known = known?.pollWish { return known == 0 ? nil : .milliseconds(known) }
        let (found, isSure) = try await capabilities(at: RootCandidates.home(of: try root()), isGuess: false)
        if isSure { changeKnown { $0.pollWish = found?.wishMilliseconds ?? 0 } }
        return found?.pollWish
    }

    /// The capabilities that a server has at a place.
    /// - Parameter isGuess: whether it is not known if there are any.
    /// - Returns: nil if it has none; and whether that is sure, since the server could answer.
    func capabilities(
        at home: ServerAddress, isGuess: Bool
    ) async throws(ConnectionError) -> (found: Capabilities?, isSure: Bool) {
        let question = Question(
            method: "GET", headers: ["OCS-APIRequest": "true"], isGuess: isGuess, timeLimit: timeLimits.greeting,
            doing: "asking for capabilities")
        var place = home.appending("ocs/v1.php/cloud/capabilities")
        place.query = "format=json"
        try await enterGate(question)
        defer { gate.leave() }
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
        return (Capabilities(json: await reply.answer.beginning(atMost: 1 << 20)), true)
    }
}

/// What servers of the ownCloud family say that they can do, as far as it is asked for.
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

    /// In milliseconds, but for the 60 of old versions, which meant seconds and no wish at all.
    var pollWish: Duration? { wishMilliseconds == 0 ? nil : .milliseconds(wishMilliseconds) }

    /// 0: none. A day at most is believed.
    var wishMilliseconds: Int64 {
        ocs.data.capabilities.core?.pollinterval.flatMap {
            $0 > 60 ? min($0, OutsideNumber.longestWait.nanoseconds / 1_000_000) : nil
        } ?? 0
    }

    var product: String? { ocs.data.capabilities.core?.status?.productname }
    var version: String? { ocs.data.version?.string ?? ocs.data.capabilities.core?.status?.versionstring }
}
