import Logging
public import Model
import NIOHTTP1

extension Connection {
    /// Uploads a whole file, in the way that goes on after an interruption if the file is large and the server offers
    /// that (TUS 1.0), else in one request, as ``put(_:_:from:progress:)``.
    ///
    /// TUS has no condition. The server is therefore asked which version it holds before the upload is created and
    /// before the last part. What somebody else writes between that answer and the end of the last part is overwritten,
    /// unless the server heeds the conditions of the request that created the upload.
    /// - Parameters:
    ///   - path: The file's path on the server.
    ///   - request: The content, and the version that it follows.
    ///   - source: The file, as for a PUT.
    ///   - resumption: The upload that was begun before, and the place to note the present one.
    ///   - progress: A function that gets the number of bytes that the network has taken, those of earlier attempts
    ///     included. It may go back if something must be sent again. It must not block.
    /// - Throws: `ConnectionError`, as ``put(_:_:from:progress:)``. Its `mayHaveArrived` is only set if the last byte
    ///   may have arrived. Errors of `note` are thrown on unchanged.
    public func upload(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource,
        resuming resumption: UploadResumption, progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> WriteOutcome {
        if request.size >= TusUpload.leastSize, !path.isRoot, let offer = try await tusOffer() {
            guard source.size == request.size else { throw Self.changed(.put(path)) }
            if let refusal = try await refusalOfName(.put(path)) { return .refused(refusal) }
            var transfer = TusTransfer(
                by: self, of: path, request, from: source, offer, resumption, progress: progress, root: try root())
            if let outcome = try await transfer.run() {
                if case .done = outcome { withQuotas { quotas, _ in quotas.took(request.size, in: path.parent) } }
                return outcome
            }
        }
        if resumption.begun != nil { try await resumption.note(nil) }
        return try await put(path, request, from: source, progress: progress)
    }

    /// Has the server drop an upload that nobody goes on with, if the server offers that. An upload that stays expires.
    public func terminate(_ upload: ResumableUpload) async {
        guard let address = try? ServerAddress(upload.address) else { return }
        await terminate(address)
    }

    /// Has the server drop the upload at an address.
    func terminate(_ address: ServerAddress) async {
        guard let offer = tus.offer, offer.terminates, let root = foundRoot(), root.origin == address.origin else {
            return
        }
        do {
            let reading = try await read(
                question(uploads: "DELETE", at: address, doing: "dropping an upload"), .put(.root), at: address,
                through: writeGate)
            logger.debug("An upload was dropped", metadata: ["status": "\(reading.status)"])
        } catch {
            logger.debug("An upload was not dropped: \(error.message)")
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
            isGuess: !concernsAccount(address), hasSecretAddress: true, timeLimit: timeLimits.head,
            expected: .document, doing: doing)
    }

    /// Returns what the server offers of resumable uploads; nil if it offers nothing. Asks for the capabilities if they
    /// may tell and were not read.
    private func tusOffer() async throws(ConnectionError) -> TusOffer? {
        let known = tus
        guard !known.isRefused else { return nil }
        if !known.hasCapabilities, known.announced != nil || writingManners.isFamily {
            let home = RootCandidates.home(of: try root())
            do throws(ConnectionError) {
                let (_, isSure) = try await capabilities(at: home, isGuess: false)
                if isSure { changeTus { $0.hasCapabilities = true } }
            } catch {
                // Limits that are not told show when they are met.
                guard error.kind == .redirectRefused || error.kind == .protocolViolation else { throw error }
                logger.debug("\(error.message)")
                changeTus { $0.hasCapabilities = true }
            }
        }
        return tus.offer
    }
}
