public import Model

/// The facts about an upload whose answer was lost, by which its content is recognised on the server. A value without
/// I/O.
public struct UploadProof: Hashable, Sendable {
    /// What a server holds after an upload whose answer was lost.
    public enum Finding: Hashable, Sendable {
        /// The uploaded content. The upload is done, and this is its version.
        case ours(ETag)
        /// What was there before. The upload may be sent again.
        case base
        /// Something else: another content, or a folder. Nothing may be overwritten.
        case other
        /// A file of the same size that the server tells nothing more about. Download and compare it.
        case unknown
    }

    /// The size of the uploaded content in bytes.
    public var size: Int64
    /// The checksums of the uploaded content.
    public var checksums: [ContentChecksum]
    /// The version that the upload was to follow.
    public var base: UploadRequest.Base

    /// Creates the facts about the upload of a request.
    public init(_ request: UploadRequest) {
        (size, checksums, base) = (request.size, request.checksums, request.base)
    }

    /// Decides what a server holds.
    /// - Parameters:
    ///   - held: The answer to the question for the item; nil if nothing is there.
    ///   - manners: The server's manners, which tell how far an ETag can be believed.
    public func finding(_ held: HeldItem?, manners: WritingManners) -> Finding {
        guard let held else {
            // What was to be replaced is gone. Somebody has deleted it, before or after the upload.
            if case .new = base { return .base }
            return .other
        }
        guard held.item.kind == .file else { return .other }
        let isBase = if case .version(let version) = base { held.item.etag == version } else { false }
        if let isEqual = checksums.equals(held.checksums) {
            guard isEqual else { return isBase ? .base : .other }
            return held.item.etag.map { .ours($0) } ?? .unknown
        }
        // Of a version that was told by size and second only, another content may follow within the second.
        let isCoarse = held.item.etag?.strength == .substitute || manners.etags != .fine
        if held.item.size == size { return isBase && !isCoarse ? .base : .unknown }
        return isBase ? .base : .other
    }
}

extension [ContentChecksum] {
    /// Tells whether checksums of the same algorithms are equal; nil if no algorithm is in both.
    func equals(_ others: [ContentChecksum]) -> Bool? {
        var isEqual: Bool?
        for checksum in self {
            for other in others where other.algorithm == checksum.algorithm {
                isEqual = (isEqual ?? true) && other.value == checksum.value
            }
        }
        return isEqual
    }
}
