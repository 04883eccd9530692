import FoundationEssentials
import Model

/// What a server offers of uploads in parts that are put together (`dav.chunking` 1.0 of Nextcloud and ownCloud 10), as
/// its capabilities tell it. A value without I/O.
struct ChunkOffer: Hashable, Sendable {
    /// The size in bytes of the largest part; nil if the server names none.
    var largestPart: Int64?

    /// Creates an offer.
    init(largestPart: Int64? = nil) { self.largestPart = largestPart }

    /// Reads a capabilities document.
    /// - Returns: nil if it does not say that uploads can be made in parts by this version of the protocol.
    init?(json: [UInt8]) {
        do {
            let told = try JSONDecoder().decode(Document.self, from: Data(json)).ocs.data.capabilities
            guard told.dav?.chunking == "1.0" else { return nil }
            largestPart = told.files?.chunks?.largest.flatMap { $0 > 0 ? $0 : nil }
        } catch {
            return nil
        }
    }

    private struct Document: Decodable { var ocs: OCS }
    private struct OCS: Decodable { var data: Contents }
    private struct Contents: Decodable { var capabilities: Parts }
    private struct Parts: Decodable {
        var dav: DAV?
        var files: Files?
    }
    private struct DAV: Decodable { var chunking: String? }
    private struct Files: Decodable {
        var chunks: Chunks?

        enum CodingKeys: String, CodingKey { case chunks = "chunked_upload" }
    }
    private struct Chunks: Decodable {
        var largest: Int64?

        enum CodingKeys: String, CodingKey { case largest = "max_size" }
    }
}

/// What a connection knows of the server's uploads in parts that are put together.
struct ChunkKnowledge: Sendable {
    /// What the capabilities say; nil if they say nothing, or were not read.
    var told: ChunkOffer?
    /// Whether the server does not do what it announces.
    var isRefused = false
    /// The size in bytes of the smallest body that was refused as too large (413); nil if none was.
    var refusedBody: Int64?

    /// What the server offers; nil if it offers nothing that works.
    var offer: ChunkOffer? { isRefused ? nil : told }

    /// Forgets what may have changed when the server is connected to anew.
    mutating func forget() { (told, isRefused, refusedBody) = (nil, false, nil) }

    /// Notes a body that was refused as too large.
    mutating func refused(_ size: Int64) { refusedBody = min(refusedBody ?? size, size) }
}
