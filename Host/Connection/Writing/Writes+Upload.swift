import Logging
public import Model
import Transfer

extension Writes {
    /// Uploads a whole file, in a way that goes on after an interruption if the file is large and the server offers
    /// that, else in one request, as ``put(_:_:from:after:progress:)``. One that is refused as too large goes out in
    /// parts too where the server puts parts together.
    ///
    /// TUS 1.0 has no condition. The server is therefore asked which version it holds before the upload is created and
    /// before the last part. What somebody else writes between that answer and the end of the last part is overwritten,
    /// unless the server heeds the conditions of the request that created the upload. Parts that are put together
    /// (`dav.chunking` 1.0) get their place by a MOVE with conditions about the place.
    /// - Parameters:
    ///   - path: The file's path on the server.
    ///   - request: The content, and the version that it follows.
    ///   - source: The file, as for a PUT.
    ///   - resumption: The upload that was begun before, and the place to note the present one.
    ///   - first: The answer to a PUT of the file, which was sent with a batch; nil if none was.
    ///   - progress: A function that gets the number of bytes that the network has taken, those of earlier attempts
    ///     included. It may go back if something must be sent again. It must not block.
    /// - Throws: `ConnectionError`, as ``put(_:_:from:after:progress:)``. Its `mayHaveArrived` is only set if the last
    ///   byte may have arrived. Errors of `note` are thrown on unchanged.
    public func upload(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource,
        resuming resumption: UploadResumption, after first: FirstAnswer? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> WriteOutcome {
        do {
            return try await goOn(path, request, from: source, resumption, after: first, progress)
        } catch var error as ConnectionError {
            // Whoever did not come to judge the answer does not know that nothing was made.
            if let first, first.isLeft, first.mayHaveArrived { error.mayHaveArrived = true }
            throw error
        }
    }

    private func goOn(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource, _ resumption: UploadResumption,
        after first: FirstAnswer?, _ progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> WriteOutcome {
        guard !path.isRoot, request.size > 0 else {
            return try await put(path, request, from: source, after: first, progress: progress)
        }
        guard source.size == request.size else { throw Self.changed(.put(path)) }
        if first == nil {
            let least = min(TusUpload.leastSize, wire.knowledge.chunks.refusedBody ?? .max)
            if request.size >= least || isOfParts(resumption.begun),
                let outcome = try await uploadInParts(path, request, from: source, resumption, progress)
            {
                return outcome
            }
            if resumption.begun != nil { try await resumption.note(nil) }
        }
        let outcome = try await put(path, request, from: source, after: first, progress: progress)
        guard case .refused(let refusal) = outcome, refusal.meaning == .tooLarge else { return outcome }
        wire.learn(.refusedBody(request.size))
        let begun = UploadResumption(begun: nil, note: resumption.note)
        return try await uploadInParts(path, request, from: source, begun, progress) ?? outcome
    }

    /// Uploads a file in more than one request, in the way that the server offers.
    /// - Returns: nil if it offers none, or if what it offers does not work.
    private func uploadInParts(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource, _ resumption: UploadResumption,
        _ progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> WriteOutcome? {
        let (tus, root) = (try await tusOffer(), try wire.root())
        let outcome: WriteOutcome?
        if let tus {
            if let refusal = try await refusalOfName(.put(path)) { return .refused(refusal) }
            var transfer = TusTransfer(
                by: self, of: path, request, from: source, tus, resumption, progress: progress, root: root)
            outcome = try await transfer.run()
        } else if let offer = wire.knowledge.chunks.offer, let uploads = chunkedUploads {
            // Without a version that can stand in a condition, the server would put the parts in place without one.
            if let version = request.base.version, version.field == nil { return nil }
            if let refusal = try await refusalOfName(.put(path)) { return .refused(refusal) }
            var transfer = ChunkTransfer(
                by: self, of: path, request, from: source, offer, resumption, progress: progress, root: root,
                uploads: uploads)
            outcome = try await transfer.run()
        } else {
            return nil
        }
        if case .done = outcome { wire.learn(.upload(request.size, into: path.parent)) }
        return outcome
    }

    /// Tells whether an upload that was begun is one in parts that are put together.
    private func isOfParts(_ begun: ResumableUpload?) -> Bool {
        guard let begun, let uploads = chunkedUploads else { return false }
        return ChunkFolder(begun, in: uploads) != nil
    }

    /// Has the server drop an upload that nobody goes on with, if the server offers that. An upload that stays expires.
    public func terminate(_ upload: ResumableUpload) async {
        guard let address = try? ServerAddress(upload.address) else { return }
        if let uploads = chunkedUploads, let folder = ChunkFolder(address, in: uploads) { return await drop(folder) }
        await terminate(address)
    }

    /// Has the server drop the upload at an address.
    func terminate(_ address: ServerAddress) async {
        guard let offer = wire.knowledge.tus.offer, offer.terminates, let root = wire.knowledge.root,
            root.origin == address.origin
        else {
            return
        }
        do {
            let reading = try await read(
                question(uploads: "DELETE", at: address, doing: "dropping an upload"), .put(.root), at: address)
            wire.logger.debug("An upload was dropped", metadata: ["status": "\(reading.status)"])
        } catch {
            wire.logger.debug("An upload was not dropped: \(error.message)")
        }
    }

    /// Returns a request to an upload's own address.
    func question(
        uploads method: String, _ headers: HTTPHeaders = [:], body: UploadBody? = nil, at address: ServerAddress,
        doing: String
    ) -> Question {
        var headers = headers
        headers.add(name: "Tus-Resumable", value: TusOffer.version)
        return Question(
            method: method, headers: headers, upload: body, isWrite: body != nil,
            isGuess: !wire.knowledge.concernsAccount(address), hasSecretAddress: true, timeLimit: wire.timeLimits.head,
            expected: .document, doing: doing)
    }

    /// Returns what the server offers of resumable uploads; nil if it offers nothing. Asks for the capabilities if they
    /// may tell and were not read.
    private func tusOffer() async throws(ConnectionError) -> TusOffer? {
        let known = wire.knowledge.tus
        guard !known.isRefused else { return nil }
        if !known.hasCapabilities, known.announced != nil || wire.knowledge.isFamily {
            let home = RootCandidates.home(of: try wire.root())
            do throws(ConnectionError) {
                let (_, isSure) = try await wire.capabilities(at: home, isGuess: false)
                if isSure { wire.learn(.askedForCapabilities) }
            } catch {
                // Limits that are not told show when they are met.
                guard error.kind == .redirectRefused || error.kind == .protocolViolation else { throw error }
                wire.logger.debug("\(error.message)")
                wire.learn(.askedForCapabilities)
            }
        }
        return wire.knowledge.tus.offer
    }
}
