public import Model
import Synchronization
import Threads
import Transfer

extension Writes {
    /// The size in bytes from which the server is asked before a file is uploaded, so that a refusal costs no more than
    /// a question.
    static let largeUpload: Int64 = 1 << 20

    /// Uploads a whole file (PUT; RFC 9110, section 9.3.4).
    ///
    /// The file goes out only if the server holds the version that it follows, and never overwrites another one, as far
    /// as the server heeds conditions (``writingManners``). Where it does not, and for large files, the server is asked
    /// just before. An outcome of `done` does not say which version the server holds now: ``confirm(_:among:)`` does.
    /// - Parameters:
    ///   - path: The file's path on the server.
    ///   - request: The content, and the version that it follows.
    ///   - source: The file. It is read on threads that may block, and no longer when this function has returned.
    ///   - first: The answer to this request, which was sent with a batch, or the lack of it; nil if it was not sent.
    ///   - progress: A function that gets the number of bytes that the network has taken. It begins at 0 again if the
    ///     server asks for another login. It must not block.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the server may hold the file: ask
    ///   ``Listings/held(at:)``, and let ``ChangeConfirmation`` decide. If its `isOfSource` is set, the file was not one version while it was read.
    public func put(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource, after first: FirstAnswer? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws(ConnectionError) -> WriteOutcome {
        let root = try wire.root()
        let write = WriteRequest.put(path)
        guard !path.isRoot else { return .refused(.notAllowed) }
        guard source.size == request.size else { throw Self.changed(write) }
        var request = request
        var reliesOnCondition = true
        if first == nil {
            if let refusal = try await refusalOfName(write) { return .refused(refusal) }
            let manners = try await wire.knownManners()
            reliesOnCondition = request.size < Self.largeUpload && request.isDecided(by: manners)
            if let refusal = try await refusalBefore(&request, at: path) { return .refused(refusal) }
        }

        var question = Question(
            method: "PUT", headers: fields(of: request), isWrite: true, timeLimit: wire.timeLimits.head,
            expected: .document, doing: write.doing)
        question.first = first
        // An empty body needs no stream, and some servers take one without a length for a mistake.
        if request.size > 0 {
            question.upload = UploadBody(
                source: source, size: request.size, bandwidth: wire.bandwidth.up, progress: progress)
        }
        let reading = try await read(question, write, at: root.address(of: path))
        let outcome = try await outcome(reading, base: request.base)
        guard case .done(var answer) = outcome else { return outcome }
        noteUpload(&answer, of: request.size, at: path, reliesOnCondition: reliesOnCondition)
        return .done(answer)
    }

    /// Asks the server whether it would refuse an upload, if that is worth while. Puts the ETag that the server has now
    /// in place of an equal one that cannot stand in a condition.
    func refusalBefore(
        _ request: inout UploadRequest, at path: ItemPath
    ) async throws(ConnectionError) -> WriteRefusal? {
        let (folder, size) = (path.parent, request.size)
        let mayLackRoom = size >= Self.largeUpload || wire.knowledge.quotas.isFull(folder)
        let isDecided = request.isDecided(by: try await wire.knownManners())
        guard mayLackRoom || !isDecided else { return nil }
        let there = try await listings.held(at: path)
        if let refusal = request.refusal(there) { return refusal }
        if case .version = request.base, let current = there?.item.etag { request.base = .version(current) }
        guard mayLackRoom, !wire.knowledge.quotas.hasRoom(for: size, in: folder, at: wire.clock.monotonic()) else {
            return nil
        }
        guard let parent = try await listings.held(at: folder), parent.item.kind == .folder else {
            return .parentMissing
        }
        wire.learn(.quota(parent.available, of: folder, at: wire.clock.monotonic()))
        guard let refusal = parent.available.flatMap({ request.refusal(there, available: $0) }) else { return nil }
        noteLack(of: refusal, in: folder)
        return refusal
    }

    /// Notes that a folder has no room, if this is why an upload is refused.
    func noteLack(of refusal: WriteRefusal, in folder: ItemPath) {
        if case .noRoom = refusal { wire.learn(.noRoom(in: folder)) }
    }

    /// Returns the fields that go out with a file.
    func fields(of request: UploadRequest) -> HTTPHeaders {
        var headers = HTTPHeaders()
        if let condition = request.condition { headers.add(name: condition.name, value: condition.value) }
        headers.add(name: "Content-Type", value: request.mimeType ?? "application/octet-stream")
        if let modified = request.modified {
            headers.add(name: "X-OC-Mtime", value: "\(modified.nanoseconds / 1_000_000_000)")
        }
        if wire.knowledge.isFamily, let checksum = request.sentChecksum {
            headers.add(name: "OC-Checksum", value: checksum.field)
        }
        return headers
    }

    /// Returns the error for a file that is not of the size that was requested.
    static func changed(_ write: WriteRequest) -> ConnectionError {
        var error = ConnectionError(.badRequest, "\(write.doing) was given up: the file has another size by now")
        error.isOfSource = true
        return error
    }
}

extension UploadRequest {
    /// Tells whether a server with these manners refuses the upload by itself if it does not follow what is there.
    func isDecided(by manners: WritingManners) -> Bool {
        switch base {
        case .new: manners.heedsConditions
        case .version(let version):
            manners.heedsConditions && manners.refusesMissingVersion && version.field != nil
        }
    }

    /// The field that makes the request depend on what the server holds; nil if the version cannot stand in one.
    var condition: (name: String, value: String)? {
        switch base {
        case .new: ("If-None-Match", "*")
        case .version(let version): version.field.map { ("If-Match", $0) }
        }
    }

    /// The checksum that goes to the server: the first of those that servers of the ownCloud family check; nil if there
    /// is none.
    var sentChecksum: ContentChecksum? {
        for algorithm in [ContentChecksum.Algorithm.sha1, .md5, .adler32] {
            if let checksum = checksums.first(where: { $0.algorithm == algorithm }) { return checksum }
        }
        return nil
    }

    /// Returns the reason why the upload does not follow what the server holds; nil if it does.
    func refusal(_ held: HeldItem?) -> WriteRefusal? {
        switch (base, held) {
        case (.new, nil): nil
        case (.new, .some): .exists
        case (.version, nil): .versionChanged
        case (.version(let version), .some(let held)):
            held.item.kind == .folder ? .exists : held.item.etag == version ? nil : .versionChanged
        }
    }

    /// Returns the refusal of a server without room for the file, which may take the place of a smaller one.
    func refusal(_ held: HeldItem?, available: Int64) -> WriteRefusal? {
        size.subtracting(held?.item.size ?? 0) > available ? .noRoom(available: available) : nil
    }
}
