import FoundationEssentials
import Model
import Transfer

/// What a server offers of resumable uploads by TUS 1.0, as it announces it. A value without I/O.
struct TusOffer: Hashable, Sendable {
    /// Whether an upload can be terminated (DELETE).
    var terminates = false
    /// Whether the server compares each part with its SHA-1.
    var checks = false
    /// The size in bytes of the largest upload; nil if the server names none.
    var largestUpload: Int64?
    /// The size in bytes of the largest part; nil if the server names none.
    var largestPart: Int64?
    /// Whether PATCH is to be sent as a POST that names the method in a field.
    var sendsPatchAsPost = false

    /// The version of the protocol.
    static let version = "1.0.0"

    /// Reads an answer that concerns a folder.
    /// - Returns: nil if the answer does not say that uploads can be created there by this version of the protocol.
    init?(_ headers: HTTPHeaders) {
        let extensions = Self.words(headers["Tus-Extension"])
        guard Self.words(headers["Tus-Version"] + headers["Tus-Resumable"]).contains(Self.version),
            extensions.contains("creation")
        else { return nil }
        let algorithms = Self.words(headers["Tus-Checksum-Algorithm"])
        // Every server with this extension has SHA-1, according to the protocol.
        checks = extensions.contains("checksum") && (algorithms.isEmpty || algorithms.contains("sha1"))
        terminates = extensions.contains("termination")
        largestUpload = headers.first(name: "Tus-Max-Size").flatMap { OutsideNumber.size($0) }.flatMap(Self.limit)
    }

    /// Reads the capabilities of a server whose answers name nothing.
    /// - Returns: nil if they do not say that uploads can be created by this version of the protocol.
    init?(_ support: TusSupport) {
        let extensions = Self.words([support.extensions ?? ""])
        guard Self.words([support.version ?? "", support.resumable ?? ""]).contains(Self.version),
            extensions.contains("creation")
        else { return nil }
        // They do not name the algorithms of checksums.
        terminates = extensions.contains("termination")
        limit(by: support)
    }

    /// Adds the limits that only the capabilities tell.
    mutating func limit(by support: TusSupport) {
        largestPart = support.largestPart.flatMap(Self.limit)
        sendsPatchAsPost = support.methodOverride.map { !$0.isEmpty } ?? false
    }

    /// 0 means that there is no limit.
    private static func limit(_ bytes: Int64) -> Int64? { bytes > 0 ? bytes : nil }

    private static func words(_ fields: [String]) -> [String] {
        fields.flatMap { $0.split { $0 == "," || $0 == " " || $0 == "\t" } }.map { $0.lowercased() }
    }
}

/// The part of a capabilities document of the ownCloud family that is about resumable uploads.
struct TusSupport: Hashable, Sendable {
    var version: String?
    var resumable: String?
    var extensions: String?
    var largestPart: Int64?
    var methodOverride: String?

    /// Reads a document.
    /// - Returns: nil if it says nothing of resumable uploads, or nothing that can be read.
    init?(json: [UInt8]) {
        do {
            let document = try JSONDecoder().decode(Document.self, from: Data(json))
            guard let told = document.ocs.data.capabilities.files?.tus else { return nil }
            (version, resumable, extensions) = (told.version, told.resumable, told.extensions)
            (largestPart, methodOverride) = (told.largestPart, told.methodOverride)
        } catch {
            return nil
        }
    }

    private struct Document: Decodable { var ocs: OCS }
    private struct OCS: Decodable { var data: Contents }
    private struct Contents: Decodable { var capabilities: Parts }
    private struct Parts: Decodable { var files: Files? }
    private struct Files: Decodable {
        var tus: Told?

        enum CodingKeys: String, CodingKey { case tus = "tus_support" }
    }
    private struct Told: Decodable {
        var version: String?
        var resumable: String?
        var extensions: String?
        var largestPart: Int64?
        var methodOverride: String?

        enum CodingKeys: String, CodingKey {
            case version, resumable
            case extensions = "extension"
            case largestPart = "max_chunk_size"
            case methodOverride = "http_method_override"
        }
    }
}

/// What a connection knows of the server's resumable uploads.
struct TusKnowledge: Sendable {
    /// What the answer to the root's last listing announced.
    var announced: TusOffer?
    /// What the capabilities say.
    var support: TusSupport?
    /// Whether the server was asked for its capabilities.
    var hasCapabilities = false
    /// Whether the server has refused to create an upload, whatever it announces.
    var isRefused = false

    /// What the server offers; nil if it offers nothing that works.
    var offer: TusOffer? {
        guard !isRefused else { return nil }
        guard var offer = announced else { return support.flatMap { TusOffer($0) } }
        if let support { offer.limit(by: support) }
        return offer
    }

    /// Forgets what may have changed when the server is connected to anew.
    mutating func forget() { (support, hasCapabilities, isRefused) = (nil, false, false) }
}
