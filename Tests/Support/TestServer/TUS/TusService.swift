import DemoServer
import FoundationEssentials
import HTTPTypes
import Model

/// Resumable uploads by the protocol tus 1.0, as servers of the oCIS family offer them: a POST to a folder creates an
/// upload, PATCHes to the upload's own address fill it, and the last byte makes it a file of the folder.
struct TusService: Sendable {
    let tree: Tree
    let uploads: TusUploads
    let settings: TusSettings
    /// The folder for large bodies.
    let folder: String

    /// The path of all uploads, which is followed by an upload's id.
    static let path = "/data/tus/"

    /// Returns the id of the upload at a path; nil if the path is not an upload's.
    static func id(of path: Substring) -> String? {
        path.hasPrefix(Self.path) ? String(path.dropFirst(Self.path.count)) : nil
    }

    static let extensions = "creation,creation-with-upload,checksum,expiration"

    private static let algorithms = Checksum.Kind.allCases.map { $0.rawValue.lowercased() }.joined(separator: ",")

    /// Adds the fields that tell clients of resumable uploads.
    func announce(in answer: inout Answer) {
        let announced = [
            ("Tus-Resumable", "1.0.0"), ("Tus-Version", "1.0.0"),
            ("Tus-Extension", Self.extensions + (settings.terminates ? ",termination" : "")),
            ("Tus-Checksum-Algorithm", Self.algorithms),
        ]
        for (name, value) in announced { answer.fields[named: name] = value }
    }

    /// Answers a POST to a folder.
    func create(_ asked: Asked, _ request: WriteRequest) async throws -> Answer {
        if let refusal = Self.refusal(ofVersion: asked) { return refusal }
        let upload = try upload(asked, request)
        let id = uploads.add(upload, now: request.now)
        var answer = Answer(.created)
        if asked.hasPart || upload.length == 0 {
            answer = try await fill(id, asked, at: 0, done: .created)
        }
        guard answer.status.code < 300 else { return answer }
        answer.fields[.location] = asked.origin + Self.path + id
        announce(in: &answer)
        if answer.fields[.eTag] == nil {
            answer.fields[named: "Upload-Expires"] = Timestamp(seconds: upload.end).httpDate
        }
        return answer
    }

    /// Returns the upload that a POST creates.
    private func upload(_ asked: Asked, _ request: WriteRequest) throws(Refusal) -> TusUpload {
        guard let node = tree.node(at: request.path) else { throw .notFound }
        guard node.isFolder else { throw .exists }
        let metadata = asked.fields[named: "Upload-Metadata"].flatMap(TusMetadata.init)
        // Servers of the family refuse a missing length or name with this status.
        guard let text = asked.fields[named: "Upload-Length"], let name = metadata?.filename else {
            throw .preconditionFailed
        }
        guard let length = Int(text), length >= 0 else { throw .malformed("Upload-Length is no length") }
        let checksum = try Putting.checksum(metadata?["checksum"], separator: " ")
        var target = request
        target.path = TreePath(names: request.path.names + [name])
        let putting = Putting(tree: tree, request: target)
        try tree.with { (state) throws(Refusal) in try putting.check(state, size: length) }
        return TusUpload(
            request: target, length: length, modified: try Putting.time(metadata?["mtime"]), checksum: checksum,
            end: request.now + settings.lifetime, spool: Spool(in: folder, kind: checksum?.kind))
    }

    /// Answers a request to an upload's own address.
    func answer(to asked: Asked, id: String) async throws -> Answer {
        var answer: Answer
        switch asked.tusMethod {
        case "OPTIONS":
            answer = Answer(.noContent)
            announce(in: &answer)
            return answer
        case "HEAD", "PATCH",
            "DELETE" where asked.tusMethod != "DELETE" || settings.terminates:
            if let refusal = Self.refusal(ofVersion: asked) { return refusal }
            do {
                switch asked.tusMethod {
                case "HEAD": answer = try head(id)
                case "PATCH": answer = try await patch(id, asked)
                default: answer = try drop(id)
                }
            } catch let refusal as Refusal {
                answer = refusal.answer
            } catch let absence as TusUploads.Absence {
                answer = Answer(absence.status)
            }
        default: answer = Answer(.methodNotAllowed)
        }
        answer.fields[named: "Tus-Resumable"] = "1.0.0"
        return answer
    }

    private func head(_ id: String) throws(TusUploads.Absence) -> Answer {
        let upload = try uploads.upload(id, now: tree.now)
        var answer = Answer(.ok)
        answer.fields[named: "Upload-Offset"] = String(upload.spool.size)
        answer.fields[named: "Upload-Length"] = String(upload.length)
        answer.fields[named: "Upload-Expires"] = Timestamp(seconds: upload.end).httpDate
        answer.fields[.cacheControl] = "no-store"
        return answer
    }

    private func drop(_ id: String) throws(TusUploads.Absence) -> Answer {
        _ = try uploads.take(id, now: tree.now)
        uploads.remove(id)
        return Answer(.noContent)
    }

    private func patch(_ id: String, _ asked: Asked) async throws -> Answer {
        _ = try uploads.upload(id, now: tree.now)
        guard asked.hasPart else { return Answer(.unsupportedMediaType) }
        guard let offset = asked.fields[named: "Upload-Offset"].flatMap({ Int($0) }) else {
            return Answer(.badRequest)
        }
        return try await fill(id, asked, at: offset, done: .noContent)
    }

    /// Adds a request's body to an upload. What arrives before the connection breaks is kept, unless the body has a
    /// checksum.
    private func fill(
        _ id: String, _ asked: Asked, at offset: Int, done: HTTPResponse.Status
    ) async throws -> Answer {
        let field = asked.fields[named: "Upload-Checksum"]
        let part = field.flatMap(UploadPart.init)
        guard field == nil || part != nil else { return Answer(.badRequest) }
        let upload = try uploads.take(id, now: tree.now)
        guard upload.spool.size == offset else {
            uploads.giveBack(id, upload.spool)
            return Answer(.conflict)
        }
        var (spool, digest) = (upload.spool, part.map { Digest($0.kind) })
        do {
            try await asked.receive { chunk in
                guard spool.size + chunk.count <= upload.length else { throw TooLong() }
                chunk.withUnsafeBytes { digest?.update($0) }
                try await spool.append(chunk)
            }
        } catch is TooLong {
            uploads.giveBack(id, upload.spool)
            return Answer(.contentTooLarge)
        } catch {
            uploads.giveBack(id, part == nil ? spool : upload.spool)
            throw error
        }
        if let part, part.value != digest?.bytes {
            uploads.giveBack(id, upload.spool)
            return Answer(.wrongChecksum)
        }
        uploads.giveBack(id, spool)
        var answer = Answer(done)
        if spool.size == upload.length { answer = try await finish(id, upload, spool, done: done) }
        if answer.status == done {
            answer.fields[named: "Upload-Offset"] = String(spool.size)
            if spool.size < upload.length {
                answer.fields[named: "Upload-Expires"] = Timestamp(seconds: upload.end).httpDate
            }
        }
        return answer
    }

    /// Makes a complete upload a file.
    private func finish(
        _ id: String, _ upload: TusUpload, _ spool: Spool, done: HTTPResponse.Status
    ) async throws -> Answer {
        var spool = spool
        let content = try await spool.content()
        if let checksum = upload.checksum, !content.checksums.contains(checksum) {
            uploads.remove(id)
            return Answer(.wrongChecksum)
        }
        var request = upload.request
        request.now = tree.now
        var answer = try Putting(tree: tree, request: request).place(content, modified: upload.modified)
        uploads.remove(id)
        answer.status = done
        return answer
    }

    private static func refusal(ofVersion asked: Asked) -> Answer? {
        guard asked.fields[named: "Tus-Resumable"] != "1.0.0" else { return nil }
        var answer = Answer(.preconditionFailed)
        answer.fields[named: "Tus-Version"] = "1.0.0"
        return answer
    }

    private struct TooLong: Error {}
}

/// The checksum of one request's body, from an `Upload-Checksum` field.
private struct UploadPart: Sendable {
    let kind: Checksum.Kind
    let value: [UInt8]

    init?(_ field: String) {
        let parts = field.split(separator: " ")
        guard parts.count == 2, let kind = Checksum.Kind(rawValue: parts[0].uppercased()),
            let value = Data(base64Encoded: String(parts[1]))
        else { return nil }
        (self.kind, self.value) = (kind, Array(value))
    }
}

extension TusUploads.Absence {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .unknown: .notFound
        case .expired: .gone
        case .busy: .init(code: 423, reasonPhrase: "Locked")
        }
    }
}

extension HTTPResponse.Status {
    fileprivate static var wrongChecksum: Self { .init(code: 460, reasonPhrase: "Checksum Mismatch") }
}

extension Asked {
    /// Whether the body is a part of an upload.
    fileprivate var hasPart: Bool { fields[.contentType] == "application/offset+octet-stream" }

    /// The method, or the one in whose place a POST was sent.
    fileprivate var tusMethod: String {
        method == "POST" ? fields[named: "X-HTTP-Method-Override"]?.uppercased() ?? method : method
    }
}
