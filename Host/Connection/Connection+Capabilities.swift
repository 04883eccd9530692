import FoundationEssentials
import Model
import NIOHTTP1

extension Connection {
    /// How long a server of the ownCloud family wishes to be left alone between two polls, by its capabilities document; nil if it
    /// says nothing of it.
    public func pollWish() async throws(ConnectionError) -> Duration? {
        let question = Question(
            method: "GET", headers: ["OCS-APIRequest": "true"], timeLimit: timeLimits.greeting,
            doing: "asking for capabilities")
        var place = RootCandidates.home(of: try root()).appending("ocs/v1.php/cloud/capabilities")
        place.query = "format=json"
        try await enterGate(question)
        defer { gate.leave() }
        var reply = try await ask(question, at: place)
        guard reply.answer.status == 200 else { return nil }
        return Capabilities(json: await reply.answer.beginning(atMost: 1 << 20))?.pollWish
    }
}

/// What servers of the ownCloud family say that they can do, as far as it is asked for.
struct Capabilities: Decodable, Equatable {
    private var ocs: OCS

    private struct OCS: Decodable, Equatable { var data: Contents }
    private struct Contents: Decodable, Equatable { var capabilities: Parts }
    private struct Parts: Decodable, Equatable { var core: Core? }
    private struct Core: Decodable, Equatable { var pollinterval: Int64? }

    init?(json: [UInt8]) {
        do { self = try JSONDecoder().decode(Capabilities.self, from: Data(json)) } catch { return nil }
    }

    /// In milliseconds, but for the 60 of old versions, which meant seconds and no wish at all.
    var pollWish: Duration? {
        ocs.data.capabilities.core?.pollinterval.flatMap { $0 > 60 ? .milliseconds($0) : nil }
    }
}
