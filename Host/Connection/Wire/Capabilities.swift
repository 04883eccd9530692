import FoundationEssentials
import Model

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
