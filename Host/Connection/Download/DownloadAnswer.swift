import Model
import Transfer

/// The rules of a download: which fields the request has, and whether an answer is the requested version of the file.
enum DownloadAnswer {
    /// Returns the fields that ask for a version and for its missing part (RFC 9110, sections 13.1 and 14.2). Only a
    /// strong ETag may stand in these fields.
    static func conditions(of request: DownloadRequest) -> HTTPHeaders {
        var headers = HTTPHeaders()
        guard let tag = tag(of: request) else { return headers }
        headers.add(name: "If-Match", value: tag)
        if request.offset > 0 {
            headers.add(name: "Range", value: "bytes=\(request.offset)-")
            headers.add(name: "If-Range", value: tag)
        }
        return headers
    }

    /// Tells whether the answer to this request may be a part of the file.
    static func asksForPart(_ request: DownloadRequest) -> Bool {
        request.offset > 0 && tag(of: request) != nil
    }

    /// Tells whether the download has to begin at the file's first byte: nothing follows the bytes that are here, or the
    /// answer is not shown to be the rest of the same version. A server that answers so once answers so each time.
    static func beginsAnew(status: Int, _ headers: HTTPHeaders, to request: DownloadRequest) -> Bool {
        guard asksForPart(request) else { return false }
        return status == 416 || status == 206 && !isRest(headers, of: request)
    }

    /// Tells whether an answer with status 206 is all that follows the bytes which are here, and of a version that it
    /// names.
    private static func isRest(_ headers: HTTPHeaders, of request: DownloadRequest) -> Bool {
        guard tag(in: headers)?.strength == .strong,
            let range = headers.first(name: "Content-Range").flatMap({ ContentRange($0) }),
            range.first == request.offset, [nil, range.last + 1].contains(range.size),
            request.size.map({ $0 == range.last + 1 }) ?? true
        else { return false }
        let length = range.last - range.first + 1
        return headers.first(name: "Content-Length").map { OutsideNumber.size($0) == length } ?? true
    }

    private static func tag(of request: DownloadRequest) -> String? { request.version?.field }

    /// Returns the head of an answer with status 200 or 206.
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - headers: The answer's header fields.
    ///   - request: The request that was answered.
    ///   - wasRedirected: Whether the request was redirected. Such an answer has to prove that it is the file, because
    ///     redirects lead to login pages.
    ///   - path: The file's path, for messages.
    /// - Throws: `versionChanged` if the answer is another version; `protocolViolation` if it is not the file.
    static func head(
        status: Int, _ headers: HTTPHeaders, to request: DownloadRequest, wasRedirected: Bool, path: ItemPath
    ) throws(ConnectionError) -> DownloadHead {
        if let coding = headers.contentCoding {
            throw violation(
                path, "the answer is encoded as \(PercentCoding.printable(coding)), which was not requested", status)
        }
        let length = try length(in: headers, path)
        var offset: Int64 = 0
        var size = length
        if status == 206 {
            guard asksForPart(request), let range = headers.first(name: "Content-Range").flatMap({ ContentRange($0) }),
                range.first == request.offset, length == nil || length == range.last - range.first + 1
            else { throw violation(path, "the answer is another part of the file than requested", status) }
            guard range.size == nil || range.size == range.last + 1 else {
                throw violation(path, "the answer is not the whole rest of the file", status)
            }
            offset = range.first
            size = range.last + 1
        } else if status != 200 {
            throw violation(path, "the server answered \(status) to a download", status)
        }

        let modified = headers.first(name: "Last-Modified").flatMap { Timestamp(httpDate: $0) }
        let tag = tag(in: headers).map { Self.tag($0, size, modified, as: request) }
        if let wanted = request.size, let size, size != wanted {
            throw changed(path, "it is \(size) bytes long instead of \(wanted)", status)
        }
        try compare(tag, size, modified, with: request, path, status)
        if wasRedirected, !provesFile(tag, size, request) {
            throw violation(
                path, "the server redirected to something other than the file, perhaps a login page", status)
        }
        let mimeType = headers.first(name: "Content-Type").flatMap(MediaType.bare)
        let isKnown =
            provesFile(tag, size, request) || (size != nil && size == request.size) || isDated(modified, as: request)
        if !isKnown, !isPlausible(mimeType, for: request) {
            throw violation(
                path,
                "the answer is \(mimeType.map(PercentCoding.printable) ?? "of no media type") and not "
                    + "\(request.mimeType.map(PercentCoding.printable) ?? "a web page"), and neither version nor "
                    + "length shows that it "
                    + "is the file; it may be a login page", status)
        }
        return DownloadHead(
            offset: offset, size: size,
            version: request.version ?? tag ?? .substitute(size: size, lastModified: modified),
            lastModified: modified, mimeType: mimeType,
            checksums: headers["OC-Checksum"].flatMap { ContentChecksum.all(in: $0) },
            isResumable: size != nil && tag?.strength == .strong && tag == request.version)
    }

    private static func tag(in headers: HTTPHeaders) -> ETag? {
        headers.first(name: "ETag").flatMap { ETag(field: $0) }
    }

    /// Returns an answer's ETag, or the requested one in its place, weak, if the two differ only in a content coding's
    /// name and both length and date are as listed: a proxy that compresses has changed the ETag.
    private static func tag(_ tag: ETag, _ size: Int64?, _ modified: Timestamp?, as request: DownloadRequest) -> ETag {
        guard let wanted = request.version, tag != wanted, tag.differsInCoding(from: wanted),
            let size, size == request.size, let modified, modified.seconds == request.lastModified?.seconds
        else { return tag }
        return ETag(opaque: wanted.opaque, strength: .weak)
    }

    private static func length(in headers: HTTPHeaders, _ path: ItemPath) throws(ConnectionError) -> Int64? {
        guard let field = headers.first(name: "Content-Length") else { return nil }
        guard let length = OutsideNumber.size(field) else {
            throw violation(path, "the answer's length makes no sense", nil)
        }
        return length
    }

    /// Compares an answer's version with the requested one. An answer to a version without an ETag is compared by
    /// length and date.
    private static func compare(
        _ tag: ETag?, _ size: Int64?, _ modified: Timestamp?, with request: DownloadRequest, _ path: ItemPath,
        _ status: Int
    ) throws(ConnectionError) {
        guard let wanted = request.version else { return }
        if wanted.strength == .substitute {
            // The listing may have told only one of length and date, and so may the answer.
            let told = [(size, modified), (request.size, modified), (size, nil), (nil, modified), (nil, nil)]
            let isSame =
                told.contains { wanted == .substitute(size: $0.0, lastModified: $0.1) }
                || isDated(modified, as: request)
            if modified != nil, !isSame, !wanted.hasUnreadableDate {
                throw changed(path, "its date is different", status)
            }
        } else if let tag, tag != wanted {
            throw changed(path, "its ETag is different", status)
        }
    }

    private static func provesFile(_ tag: ETag?, _ size: Int64?, _ request: DownloadRequest) -> Bool {
        guard let wanted = request.version, wanted.strength != .substitute else {
            return size != nil && size == request.size
        }
        return tag == wanted
    }

    /// Tells whether an answer has the date that identifies the listed version, if the listing had no ETag.
    private static func isDated(_ modified: Timestamp?, as request: DownloadRequest) -> Bool {
        guard let modified, let wanted = request.version, wanted.strength == .substitute else { return false }
        // A header field has no fractions of a second, which a listing may have.
        let dates = [modified, request.lastModified].filter { $0?.seconds == modified.seconds }
        return dates.contains { date in
            [request.size, nil].contains { wanted == .substitute(size: $0, lastModified: date) }
        }
    }

    /// Tells whether an answer that nothing else identifies may be the file: it has the listed media type. If none was
    /// listed, the answer is at least no web page.
    private static func isPlausible(_ mimeType: String?, for request: DownloadRequest) -> Bool {
        guard request.version != nil || request.size != nil else { return true }
        if let listed = request.mimeType { return mimeType == listed }
        return mimeType != "text/html" && mimeType != "application/xhtml+xml"
    }

    /// Compares the length of a finished body with the head and with the request.
    /// - Throws: `unreachable` if the body is not as long as the head says; `versionChanged` if it is not as long as
    ///   requested.
    static func check(
        received: Int64, against head: DownloadHead, request: DownloadRequest, path: ItemPath
    ) throws(ConnectionError) {
        let size = head.offset + received
        if let promised = head.size, size != promised {
            throw ConnectionError(
                .unreachable, "downloading \(path): the answer ended at byte \(size) of \(promised)", hint: "try again")
        }
        if let wanted = request.size, size != wanted {
            throw changed(path, "it is \(size) bytes long instead of \(wanted)", nil)
        }
    }

    /// Returns the error for a body that is longer than listed. The listing may be old.
    static func tooLong(_ path: ItemPath) -> ConnectionError { changed(path, "it is longer than was listed", nil) }

    private static func changed(_ path: ItemPath, _ how: String, _ status: Int?) -> ConnectionError {
        ConnectionError(.versionChanged, "\(path) has changed on the server: \(how)", status: status)
    }

    private static func violation(_ path: ItemPath, _ what: String, _ status: Int?) -> ConnectionError {
        ConnectionError(.protocolViolation, "downloading \(path): \(what)", status: status)
    }
}

extension ETag {
    /// The version as a field's value; nil unless the ETag is strong and consists of characters that an ETag may have.
    var field: String? {
        let isSound = opaque.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
        return isSound ? precondition : nil
    }
}
