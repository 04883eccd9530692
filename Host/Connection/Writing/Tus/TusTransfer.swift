import Digests
import FoundationEssentials
import Logging
import Model
import Threads
import Transfer

/// A resumable upload under way: carries out the steps of a ``TusUpload``, and passes the answers back to it.
struct TusTransfer {
    private let writes: Writes
    private let path: ItemPath
    private var request: UploadRequest
    private let source: any UploadSource
    private let offer: TusOffer
    private let resumption: UploadResumption
    private let progress: @Sendable (Int64) -> Void
    private let root: ServerAddress
    private var upload: TusUpload
    /// The last answer.
    private var reading: WriteReading?
    /// The error of the last part whose answer was lost.
    private var failure: ConnectionError?
    /// Whether the last byte may have arrived.
    private var mayHaveArrived = false

    private var write: WriteRequest { .put(path) }
    private var doing: String { write.doing }

    /// The pauses before the server is asked again for a file that it has not made of the upload yet.
    private static let landingPauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

    init(
        by writes: Writes, of path: ItemPath, _ request: UploadRequest, from source: any UploadSource,
        _ offer: TusOffer, _ resumption: UploadResumption, progress: @escaping @Sendable (Int64) -> Void,
        root: ServerAddress
    ) {
        (self.writes, self.path, self.request, self.source) = (writes, path, request, source)
        (self.offer, self.resumption, self.progress, self.root) = (offer, resumption, progress, root)
        // Credentials go to the account's origin only, whatever the database says.
        let begun = resumption.begun.flatMap { begun in
            begun.path == path && begun.base == request.base.version ? try? ServerAddress(begun.address) : nil
        }
        upload = TusUpload(size: request.size, offer: offer, begun: begun?.origin == root.origin ? begun : nil)
    }

    /// Uploads the file.
    /// - Returns: The outcome; nil if the file is to be sent in one request.
    mutating func run() async throws -> WriteOutcome? {
        if let begun = resumption.begun, upload.address == nil { await writes.terminate(begun) }
        while true {
            switch upload.next {
            case .create: if let refusal = try await create() { return .refused(refusal) }
            case .askOffset(let pause): try await askOffset(after: pause)
            case .checkBase:
                if let refusal = request.refusal(try await writes.listings.held(at: path)) {
                    try await giveUp()
                    return .refused(refusal)
                }
                upload.baseHolds()
            case .send(let range, let hasChecksum): try await send(range, hasChecksum: hasChecksum)
            case .end(let end): return try await outcome(end)
            }
            if let old = upload.takeAbandoned() { await writes.terminate(old) }
        }
    }

    // MARK: The steps

    private mutating func create() async throws -> WriteRefusal? {
        if let refusal = try await writes.refusalBefore(&request, at: path) { return refusal }
        let folder = root.address(of: path.parent, isFolder: true)
        var headers: HTTPHeaders = [
            "Tus-Resumable": TusOffer.version, "Upload-Length": "\(request.size)", "Upload-Metadata": metadata,
        ]
        if let condition = request.condition { headers.add(name: condition.name, value: condition.value) }
        let question = Question(
            method: "POST", headers: headers, isWrite: true, timeLimit: writes.wire.timeLimits.head,
            expected: .document, doing: doing)
        do throws(ConnectionError) {
            let reading = try await writes.read(question, write, at: folder)
            self.reading = reading
            upload.created(TusAnswer(status: reading.status, reading.headers), at: reading.address)
        } catch {
            var error = error
            // No byte of the file was sent.
            error.mayHaveArrived = false
            throw error
        }
        if let address = upload.address {
            try await resumption.note(
                ResumableUpload(address: "\(address)", path: path, base: request.base.version))
        }
        return nil
    }

    private mutating func askOffset(after pause: Duration) async throws {
        guard let address = upload.address else { return }
        try await wait(pause)
        let reading = try await writes.read(
            writes.question(uploads: "HEAD", at: address, doing: doing), write, at: address)
        self.reading = reading
        upload.told(TusAnswer(status: reading.status, reading.headers))
    }

    private mutating func send(_ range: Range<Int64>, hasChecksum: Bool) async throws {
        guard let address = upload.address else { return }
        let body = UploadBody(
            source: source, start: range.lowerBound, size: range.upperBound - range.lowerBound,
            bandwidth: writes.wire.bandwidth.up
        ) { [progress] sent in progress(range.lowerBound + sent) }
        var headers: HTTPHeaders = [
            "Upload-Offset": "\(range.lowerBound)", "Content-Type": "application/offset+octet-stream",
        ]
        if hasChecksum { headers.add(name: "Upload-Checksum", value: "sha1 \(try await sha1(of: body))") }
        if offer.sendsPatchAsPost { headers.add(name: "X-HTTP-Method-Override", value: "PATCH") }
        let question = writes.question(
            uploads: offer.sendsPatchAsPost ? "POST" : "PATCH", headers, body: body, at: address, doing: doing)
        let isLast = range.upperBound == request.size
        do throws(ConnectionError) {
            let reading = try await writes.read(question, write, at: address)
            self.reading = reading
            mayHaveArrived = isLast
            upload.sent(range, TusAnswer(status: reading.status, reading.headers))
            if !(200..<300).contains(reading.status) { failure = self.error(for: reading) }
        } catch {
            var error = error
            guard !isLast else { throw error }
            error.mayHaveArrived = false
            guard error.isClosed else { throw error }
            failure = error
            upload.lost(range)
        }
    }

    private func wait(_ pause: Duration) async throws(ConnectionError) {
        guard pause > .zero else { return }
        do { try await writes.wire.clock.sleep(pause) } catch {
            throw ConnectionError(.cancelled, "\(doing) was cancelled")
        }
    }

    // MARK: The end

    private mutating func outcome(_ end: TusUpload.End) async throws -> WriteOutcome? {
        switch end {
        case .done: return try await landed()
        case .unusable(let isLasting):
            if isLasting {
                writes.wire.learn(.tusFails)
                writes.wire.logger.info(
                    "The server offers resumable uploads that do not work; files go in one request")
            }
            return nil
        case .elsewhere:
            // Said once, since no resumable upload is begun any more.
            writes.wire.learn(.tusFails)
            writes.wire.logger.warning(
                """
                The server names an address on another server for a resumable upload: nothing was sent there, and files \
                go in one request. Check the server's own address in its settings: it must be the one in the account's url
                """, metadata: ["server": "\(root.origin)"])
            return nil
        case .refused(let refusal): return .refused(refusal)
        case .decidedByAnswer:
            guard let reading else { return nil }
            do {
                let outcome = try await writes.outcome(reading, base: request.base)
                if case .refused(.exists) = outcome { try await giveUp() }
                if case .refused(.versionChanged) = outcome { try await giveUp() }
                return outcome
            } catch var error as ConnectionError {
                error.mayHaveArrived = error.mayHaveArrived && mayHaveArrived
                throw error
            }
        case .stuck:
            throw failure
                ?? ConnectionError(
                    .serverError, "\(root.origin) takes no more bytes while \(doing)", hint: "check the server's log")
        case .forgotten:
            throw ConnectionError(
                .serverError, "\(root.origin) forgot what it had got again and again while \(doing)",
                hint: "check the server's log, and how long it keeps uploads that are not complete")
        }
    }

    private func error(for reading: WriteReading) -> ConnectionError {
        var error = writes.error(for: reading)
        error.mayHaveArrived = error.mayHaveArrived && mayHaveArrived
        return error
    }

    /// Ends an upload that must not become the file.
    private func giveUp() async throws {
        if let address = upload.address { await writes.terminate(address) }
        try await resumption.note(nil)
    }

    /// Finds out whether the server has made the file of the last part. Some do so only after their answer, and some much
    /// later: what does not show yet is for the caller to wait for.
    private func landed() async throws(ConnectionError) -> WriteOutcome? {
        guard let reading else { return nil }
        do throws(ConnectionError) {
            var held = try await writes.listings.held(at: path)
            for pause in Self.landingPauses {
                guard isUndone(held) else { break }
                try await wait(pause)
                held = try await writes.listings.held(at: path)
            }
            // It was the base a moment ago, so hardly anybody else has written as many other bytes.
            if let held, !isUndone(held), held.item.size == request.size,
                request.checksums.equals(held.checksums) == false
            {
                return .refused(.checksumDiffers)
            }
        } catch {
            var error = error
            error.mayHaveArrived = true
            throw error
        }
        var answer = WriteAnswer(reading)
        // The ETag in an answer to a part does not say that the parts before arrived as they were sent.
        answer.etag = nil
        return .done(answer)
    }

    private func isUndone(_ held: HeldItem?) -> Bool {
        ChangeConfirmation.ofUpload(request, shown: held, manners: writes.wire.knowledge.manners) == .undone
    }

    // MARK: What is sent

    /// What the server is told of the file.
    private var metadata: String {
        var facts = [("filename", path.name)]
        if let modified = request.modified { facts.append(("mtime", "\(modified.nanoseconds / 1_000_000_000)")) }
        if let checksum = request.sentChecksum {
            facts.append(("checksum", String(checksum.field.map { $0 == ":" ? " " : $0 })))
        }
        return facts.map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    /// Computes the checksum of a part, which is read for it.
    private func sha1(of body: UploadBody) async throws -> String {
        var hash = MessageDigest(.sha1)
        var offset: Int64 = 0
        while offset < body.size {
            let piece: [UInt8]
            do { piece = try await runBlocking { [offset] in try body.piece(at: offset) } } catch let error
                as TransportError
            {
                throw ConnectionError(error, doing: doing, at: root.origin)
            }
            piece.withUnsafeBytes { hash.update($0) }
            offset += Int64(piece.count)
        }
        return Data(hash.value).base64EncodedString()
    }
}

extension UploadRequest.Base {
    /// The version; nil if the file is new.
    var version: ETag? { if case .version(let version) = self { version } else { nil } }
}
