import Model
import Transfer

/// An answer to a request that changes something, as it was read.
struct WriteReading: Sendable {
    var request: WriteRequest
    var status: Int
    var headers: HTTPHeaders
    /// The beginning of the answer's body.
    var document: [UInt8]
    /// Whether the answer has a body. One whose body was cut off before its first byte has one too.
    var hasDocument: Bool {
        !document.isEmpty || headers.contains(name: "Transfer-Encoding")
            || headers.first(name: "Content-Length").flatMap { Int64($0) } ?? 0 > 0
    }
    /// The server's own sentence about a refusal.
    var sentence: String?
    /// The address that was asked.
    var address: ServerAddress
    /// The time from the moment before the request was sent to its answer.
    var took: Duration
}

/// What an answer to a request that changes something means. A value without I/O; the page about writing has the table.
enum WriteMeaning {
    case done
    /// The answer tells about several items, of which some may have been refused.
    case severalItems
    case refused(WriteRefusal)
    /// The status has several meanings. What the server holds tells which.
    case unclear
    /// The answer is one that the request does not have, although its status says that it succeeded. A portal or a
    /// proxy may have answered in the server's place.
    case unproven
    /// The server cannot answer now, or the answer makes no sense.
    case error

    /// Finds the meaning.
    /// - Parameters:
    ///   - reading: The answer.
    ///   - base: The version that an upload follows.
    init(_ reading: WriteReading, base: UploadRequest.Base? = nil) {
        let told = WriteErrorReader(reading.document)
        if told.conditions.contains(where: { $0 == "{DAV:}quota-not-exceeded" || $0 == "{DAV:}sufficient-disk-space" })
        {
            self = .refused(.noRoom(available: nil))
            return
        }
        switch (reading.status, reading.request) {
        case (207, .delete), (207, .move), (207, .copy), (207, .setFavorite), (207, .setModificationTime):
            self = .severalItems
        // 201 with a page is Apache's own answer. 200 with a document, and what is still to be done (202), prove nothing.
        case (201, .delete): self = .unproven
        // What a PROPPATCH has done is told in a multistatus (RFC 4918, section 9.2).
        case (200..<300, .setFavorite), (200..<300, .setModificationTime): self = .unproven
        case (201, _), (204, _): self = .done
        // What makes something is answered with 201 or 204 (RFC 4918, sections 9.3, 9.8 and 9.9).
        case (200, .makeFolder), (200, .move), (200, .copy): self = .unproven
        case (200, _) where !reading.hasDocument: self = .done
        case (200..<300, _): self = .unproven
        case (400, .put) where told.text.contains("checksum"): self = .refused(.checksumDiffers)
        case (400, .makeFolder), (400, .move), (400, .copy): self = .unclear
        case (400, _): self = .refused(.invalid)
        case (403, .move), (403, .copy): self = .unclear
        case (403, _): self = .refused(.forbidden)
        case (404, .delete), (404, .setFavorite), (404, .setModificationTime): self = .refused(.notFound)
        case (410, .delete), (410, .setFavorite), (410, .setModificationTime): self = .refused(.notFound)
        case (404, _), (410, _): self = .unclear
        case (405, .makeFolder), (405, .put), (301, .put): self = .unclear
        case (405, _), (501, _): self = .refused(.notAllowed)
        case (409, .makeFolder), (409, .put), (409, .move), (409, .copy): self = .unclear
        case (409, _), (301, _): self = .refused(.conflict)
        case (412, .put): self = .refused(base == .new ? .exists : .versionChanged)
        case (412, .move), (412, .copy), (412, .makeFolder): self = .refused(.exists)
        case (412, _): self = .refused(.versionChanged)
        case (413, _): self = .refused(.tooLarge)
        case (414, _): self = .refused(.invalid)
        case (415, _): self = .refused(.unsupportedType)
        case (422, _): self = .refused(.unprocessable)
        case (460, .put): self = .refused(.checksumDiffers)
        case (423, _), (424, _): self = .refused(.locked(owner: told.lockOwner))
        case (500, _) where reading.request.target != nil: self = .unclear
        case (507, _): self = .refused(.noRoom(available: nil))
        case (408, _), (425, _), (429, _), (500, _), (502...504, _), (506, _), (508...599, _): self = .error
        case (let status, _): self = .refused(.other(status: status))
        }
    }

    /// Whether a request may have been carried out although it was answered with this status. A proxy answers so when
    /// it lost the server's own answer.
    static func mayHaveArrived(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429, 503: false
        default: status >= 500 || (200..<300).contains(status)
        }
    }
}

extension WriteAnswer {
    /// Reads the answer to a request that was carried out.
    init(_ reading: WriteReading, base: UploadRequest.Base? = nil) {
        self.init(status: reading.status, headers: reading.headers, took: reading.took, base: base)
    }

    /// Reads the head of the answer to a request that was carried out.
    /// - Parameter took: The time from the moment before the request was sent to the answer.
    init(status: Int, headers: HTTPHeaders, took: Duration, base: UploadRequest.Base?) {
        self.init(
            status: status, etag: headers.first(name: "ETag").flatMap { ETag(field: $0) },
            checksums: ContentChecksum.all(in: headers.first(name: "OC-Checksum") ?? ""),
            fileID: headers.first(name: "OC-FileId").flatMap { $0.isEmpty ? nil : FileID($0) },
            date: headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) }, took: took,
            tookModified: headers.first(name: "X-OC-MTime")?.lowercased() == "accepted",
            // 204 says that something was there.
            hasReplaced: base == .new && status == 204)
    }
}
