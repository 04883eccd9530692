import Model
import Transfer

extension Downloads {
    /// Downloads small files in a batch, without a task for each. What an answer says by its status, its ETag and its
    /// length alone is taken at once. Any other answer, and the lack of one, is handed over, and
    /// ``get(_:request:after:into:)`` decides about it.
    ///
    /// After the lack of an answer, and after an answer that concerns more than its file, no further request is started.
    /// - Parameters:
    ///   - batch: The files.
    ///   - receiver: The one who takes them.
    /// - Returns: The requests, which have begun; nil if files cannot be requested in batches now: there is a limit of
    ///   bandwidth, the login differs from request to request, or no request may be sent at all.
    public func download(_ batch: FileBatch, for receiver: any FileBatchReceiver) -> (any FileBatchRun)? {
        guard let way = wire.batchWay(wire.bandwidth.down) else { return nil }
        let run = BatchRun(wire, batch, receiver, way)
        let requests = self.requests(for: batch, by: way, idPrefix: run.hold.idPrefix)
        return run.hold.begin(requests, way, .smallDownload, for: run) ? run : nil
    }

    /// Whether small files can be requested in batches now: see ``download(_:for:)``.
    public var takesBatches: Bool { wire.batchWay(wire.bandwidth.down) != nil }

    private func requests(for batch: FileBatch, by way: Wire.BatchWay, idPrefix: String) -> BatchRequests {
        let question = Question(method: "GET", timeLimit: wire.timeLimits.head, expected: .transfer, doing: "")
        var requests = BatchRequests(.download, limits: wire.answerLimits(question))
        requests.headers = way.headers
        requests.idPrefix = idPrefix
        requests.requests.reserveCapacity(batch.files.count)
        let prefix = Array(way.root.description.utf8)
        for file in batch.files {
            let start = requests.texts.count
            requests.texts += prefix
            PercentCoding.append(path: batch.bytes(of: file.path).dropFirst(), to: &requests.texts)
            requests.texts.append(0)
            let url = BatchRequests.TextRange(start: start, count: requests.texts.count - start)
            let tag = requests.texts.count
            requests.texts.append(UInt8(ascii: "\""))
            requests.texts += batch.bytes(of: file.version)
            requests.texts.append(UInt8(ascii: "\""))
            requests.requests.append(
                .init(url: url, tag: .init(start: tag, count: requests.texts.count - tag), size: file.size))
        }
        return requests
    }
}

/// The requests of a batch of downloads, and what of their answers concerns the connection.
private final class BatchRun: FileBatchRun, BatchReceiver {
    private let batch: FileBatch
    private let receiver: any FileBatchReceiver
    private let gate: RequestGate
    let hold: BatchHold

    init(
        _ wire: Wire, _ batch: FileBatch, _ receiver: any FileBatchReceiver, _ way: Wire.BatchWay
    ) {
        (self.batch, self.receiver, gate) = (batch, receiver, wire.gate)
        hold = BatchHold(wire, way)
    }

    func goOn() { hold.transfer?.goOn() }
    func stop() { hold.transfer?.stop() }
    func end(_ file: Int) { hold.transfer?.end(file) }
    func cancel() { hold.transfer?.cancel() }

    func mayStart(_ file: Int) -> BatchStart {
        guard hold.maySend else { return .never }
        return switch receiver.mayStart(file) {
        case .now: .now
        case .later: .later
        case .never: .never
        }
    }

    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool { false }

    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool { receiver.begin(file, at: place, sha1: sha1) }

    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool {
        receiver.take(bytes, of: file, at: place)
    }

    func end(_ file: Int, at place: Int, _ end: BatchEnd) {
        switch end {
        case .complete, .brokenOff: hold.log(file, "GET", status: 200, batch.path(of: file))
        case .answer(let transfer): hold.log(file, "GET", status: transfer.status, batch.path(of: file))
        case .failed, .made, .unread: break
        }
        let outcome: FileBatchEnd =
            switch end {
            case .complete: .complete
            case .brokenOff, .made, .unread: .brokenOff
            case .failed(.cancelled): .cancelled
            case .failed(let error): .first(hold.first(.failure(error), leave: nil))
            case .answer(let transfer):
                .first(hold.first(.success(transfer), leave: { [gate] in gate.leave(.smallDownload) }))
            }
        receiver.end(file, at: place, outcome)
    }

    func ended() {
        hold.ended()
        receiver.ended()
    }
}
