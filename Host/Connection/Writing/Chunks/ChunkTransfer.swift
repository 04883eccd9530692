import Logging
import Model
import Transfer

/// An upload in parts under way: carries out the steps of a ``ChunkUpload``, and passes the answers back to it.
struct ChunkTransfer {
    private let writes: Writes
    private let path: ItemPath
    private var request: UploadRequest
    private let source: any UploadSource
    private let resumption: UploadResumption
    private let progress: @Sendable (Int64) -> Void
    private let (root, uploads): (ServerAddress, ServerAddress)
    private var upload: ChunkUpload
    /// The last answer.
    private var reading: WriteReading?
    /// The error of the last part whose answer was lost.
    private var failure: ConnectionError?
    /// Whether the parts may have been put together.
    private var mayHaveArrived = false

    private var write: WriteRequest { .put(path) }
    private var target: ServerAddress { root.address(of: path) }

    init(
        by writes: Writes, of path: ItemPath, _ request: UploadRequest, from source: any UploadSource,
        _ offer: ChunkOffer, _ resumption: UploadResumption, progress: @escaping @Sendable (Int64) -> Void,
        root: ServerAddress, uploads: ServerAddress
    ) {
        (self.writes, self.path, self.request, self.source) = (writes, path, request, source)
        (self.resumption, self.progress, self.root, self.uploads) = (resumption, progress, root, uploads)
        let begun = resumption.begun.flatMap { begun in
            begun.path == path && begun.base == request.base.version ? ChunkFolder(begun, in: uploads) : nil
        }
        upload = ChunkUpload(
            size: request.size, offer: offer, refusedBody: writes.wire.knowledge.chunks.refusedBody, begun: begun)
    }

    /// Uploads the file.
    /// - Returns: The outcome; nil if the file is to be sent in one request.
    mutating func run() async throws -> WriteOutcome? {
        if let begun = resumption.begun, upload.folder == nil { await writes.terminate(begun) }
        while true {
            switch upload.next {
            case .create(let partSize): if let refusal = try await create(partSize) { return .refused(refusal) }
            case .list(let pause): try await list(after: pause)
            case .send(let number, let range): try await send(number, range)
            case .checkBase:
                if let refusal = request.refusal(try await writes.listings.held(at: path)) {
                    try await giveUp()
                    return .refused(refusal)
                }
                upload.baseHolds()
            case .assemble: if let refusal = try await assemble() { return .refused(refusal) }
            case .end(let end): return try await outcome(end)
            }
            if let old = upload.takeAbandoned() { await writes.drop(old) }
        }
    }

    // MARK: The steps

    private mutating func create(_ partSize: Int64) async throws -> WriteRefusal? {
        if let refusal = try await writes.refusalBefore(&request, at: path) { return refusal }
        let folder = ChunkFolder(in: uploads, id: randomHex(bytes: 16), partSize: partSize)
        // Noted before it is made, so that it is known whatever becomes of the answer.
        try await resumption.note(
            ResumableUpload(address: "\(folder.address)", path: path, base: request.base.version))
        let reading = try await ask("MKCOL", at: folder.address)
        upload.created(folder, reading.status)
        return nil
    }

    private mutating func list(after pause: Duration) async throws {
        guard let folder = upload.folder else { return }
        try await wait(pause)
        upload.listed(try await writes.parts(in: folder, doing: write.doing))
    }

    private mutating func send(_ number: Int, _ range: Range<Int64>) async throws {
        guard let folder = upload.folder else { return }
        let body = UploadBody(
            source: source, start: range.lowerBound, size: range.upperBound - range.lowerBound,
            bandwidth: writes.wire.bandwidth.up
        ) { [progress] sent in progress(range.lowerBound + sent) }
        do {
            let reading = try await ask("PUT", body: body, at: folder.part(number))
            if reading.status == 413 { writes.wire.learn(.refusedBody(body.size)) }
            if !(200..<300).contains(reading.status) { failure = error(for: reading) }
            upload.sent(reading.status, hasDocument: !reading.document.isEmpty)
        } catch let error as ConnectionError where error.isClosed {
            failure = error
            upload.lost()
        }
    }

    /// Has the parts put together and put in place, on conditions about the target.
    ///
    /// `If-Match` of a MOVE is about its source. `If` names the resource that it is about (RFC 4918, section 10.4).
    private mutating func assemble() async throws -> WriteRefusal? {
        guard let folder = upload.folder else { return nil }
        var headers = writes.fields(of: request)
        for name in ["If-Match", "If-None-Match", "Content-Type"] { headers.remove(name: name) }
        switch request.base {
        case .new: headers.add(name: "Overwrite", value: "F")
        case .version(let version):
            headers.add(name: "Overwrite", value: "T")
            if let field = version.field { headers.add(name: "If", value: "<\(target)> ([\(field)])") }
        }
        mayHaveArrived = true
        let reading = try await ask("MOVE", headers, at: folder.whole)
        let isOfChecksum = WriteErrorReader(reading.document).text.contains("checksum")
        guard [404, 410].contains(reading.status) || reading.status == 400 && !isOfChecksum else {
            upload.assembled()
            return nil
        }
        // The target may be what is not there, or the parts.
        mayHaveArrived = false
        if let refusal = request.refusal(try await writes.listings.held(at: path)) {
            try await giveUp()
            return refusal
        }
        guard try await writes.listings.held(at: path.parent)?.item.kind == .folder else { return .parentMissing }
        upload.notAssembled()
        return nil
    }

    /// Sends a request, and notes its answer.
    private mutating func ask(
        _ method: String, _ headers: HTTPHeaders = [:], body: UploadBody? = nil, at address: ServerAddress
    ) async throws -> WriteReading {
        var headers = headers
        headers.add(name: "Destination", value: "\(target)")
        headers.add(name: "OC-Total-Length", value: "\(request.size)")
        let question = Question(
            method: method, headers: headers, upload: body, isWrite: true,
            isGuess: !writes.wire.knowledge.concernsAccount(address), timeLimit: writes.wire.timeLimits.head,
            expected: .document, doing: write.doing)
        do throws(ConnectionError) {
            let reading = try await writes.read(question, write, at: address)
            self.reading = reading
            return reading
        } catch {
            throw certain(error)
        }
    }

    /// Returns an error that says that nothing can have arrived, unless the parts may have been put together.
    private func certain(_ error: ConnectionError) -> ConnectionError {
        var error = error
        error.mayHaveArrived = error.mayHaveArrived && mayHaveArrived
        return error
    }

    private func error(for reading: WriteReading) -> ConnectionError { certain(writes.error(for: reading)) }

    private func wait(_ pause: Duration) async throws(ConnectionError) {
        guard pause > .zero else { return }
        do { try await writes.wire.clock.sleep(pause) } catch {
            throw ConnectionError(.cancelled, "\(write.doing) was cancelled")
        }
    }

    // MARK: The end

    private mutating func outcome(_ end: ChunkUpload.End) async throws -> WriteOutcome? {
        switch end {
        case .decidedByAnswer:
            guard let reading else { return nil }
            do {
                switch try await writes.outcome(reading, base: request.base) {
                case .done(var answer):
                    // The ETag of an answer to MOVE does not say that the parts arrived as they were sent.
                    answer.etag = nil
                    return .done(answer)
                case .refused(let refusal):
                    if refusal == .exists || refusal == .versionChanged { try await giveUp() }
                    return .refused(refusal)
                case .unclear(let error):
                    guard mayHaveArrived else { throw error }
                    return .unclear(error)
                }
            } catch let error as ConnectionError {
                throw certain(error)
            }
        case .unusable(let isLasting):
            if isLasting {
                writes.wire.learn(.chunksFail)
                writes.wire.logger.info(
                    "The server offers uploads in parts that do not work; files go in one request")
            }
            try await giveUp()
            return nil
        case .tooLarge:
            try await giveUp()
            return .refused(.tooLarge)
        case .stuck:
            throw failure
                ?? ConnectionError(
                    .serverError, "\(root.origin) takes no more parts while \(write.doing)",
                    hint: "check the server's log")
        case .forgotten:
            throw ConnectionError(
                .serverError, "\(root.origin) forgot what it had got again and again while \(write.doing)",
                hint: "check the server's log, and how long it keeps uploads that are not complete")
        }
    }

    /// Ends an upload that must not become the file.
    private func giveUp() async throws {
        if let folder = upload.folder { await writes.drop(folder) }
        try await resumption.note(nil)
    }
}

extension ChunkFolder {
    /// Reads the address of an upload that was noted.
    init?(_ upload: ResumableUpload, in uploads: ServerAddress) {
        let address: ServerAddress
        do throws(ServerAddress.Problem) { address = try ServerAddress(upload.address) } catch { return nil }
        self.init(address, in: uploads)
    }
}
