import Logging
import Model
import Synchronization
import Transfer

extension Connection {
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
        guard let way = batchWay() else { return nil }
        var question = Question(method: "GET", timeLimit: timeLimits.head, expected: .transfer, doing: "")
        question.headers.add(name: "User-Agent", value: "Larder/\(Product.version)")
        question.headers.add(name: "Accept-Encoding", value: "identity")
        if let field = way.authorization.field { question.headers.add(name: "Authorization", value: field) }
        let run = BatchRun(self, batch, receiver, way.generation, way.authorization)
        let requests = self.requests(for: batch, below: way.root, question, idPrefix: run.idPrefix)
        // Accounts share the threads.
        let number = Int(truncatingIfNeeded: UInt(bitPattern: ObjectIdentifier(self).hashValue))
        guard
            let transfer = way.transport.start(
                requests, places: most, turns, number: number & Int.max, for: run)
        else { return nil }
        run.began(transfer)
        return run
    }

    /// Whether small files can be requested in batches now: see ``download(_:for:)``.
    public var takesBatches: Bool { batchWay() != nil }

    private struct BatchWay {
        var root: ServerAddress
        var transport: any HTTPTransport
        var generation: Int
        var authorization: Authorization
    }

    private func batchWay() -> BatchWay? {
        do throws(ConnectionError) {
            guard !bandwidth.down.isLimited else { return nil }
            let root = try root()
            let transport = try usableTransport()
            let generation = try usableCredentials()
            if let plain = Approval.plainHTTP(root.origin) { try approvals.check(plain) }
            guard transport.sendsBatches, let authorization = try login(generation, { $0.sameForAll }) else {
                return nil
            }
            return BatchWay(root: root, transport: transport, generation: generation, authorization: authorization)
        } catch {
            return nil
        }
    }

    private func requests(
        for batch: FileBatch, below root: ServerAddress, _ question: Question, idPrefix: String
    ) -> BatchRequests {
        var requests = BatchRequests(limits: answerLimits(question))
        requests.headers = question.headers
        requests.idPrefix = idPrefix
        requests.requests.reserveCapacity(batch.files.count)
        let prefix = Array(root.description.utf8)
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

    private var turns: BatchTurns {
        BatchTurns(
            take: { [gate] in gate.tryEnter(.smallDownload) },
            leave: { [gate] in
                gate.leave(.smallDownload, noting: $0.map { .answered(head: $0.head, body: $0.body) })
            },
            wait: { [gate] body in
                Task {
                    // A task that nobody cancels gets its turn.
                    do { try await gate.enter(.smallDownload).handOver() } catch { return }
                    body()
                }
            })
    }

    /// Whether requests with the credentials of a generation may be sent.
    fileprivate func maySend(_ generation: Int) -> Bool {
        (try? usableTransport()) != nil && (try? usableCredentials()) == generation
    }
}

/// The batches under way of a connection.
final class BatchesUnderWay: Sendable {
    private let runs = Mutex<[BatchTransfer]>([])

    func add(_ transfer: BatchTransfer) { runs.withLock { $0.append(transfer) } }
    func remove(_ transfer: BatchTransfer) { runs.withLock { $0.removeAll { $0 === transfer } } }

    /// Has them begin requests, after a turn was given back.
    func tryTurns() { for transfer in runs.withLock(\.self) { transfer.tryTurn() } }
}

/// The requests of a batch, and what of their answers concerns the connection.
private final class BatchRun: FileBatchRun, BatchReceiver {
    private let connection: Connection
    private let batch: FileBatch
    private let receiver: any FileBatchReceiver
    private let generation: Int
    private let authorization: Authorization
    let idPrefix = randomHex(bytes: 12)
    private let state = Mutex(State())

    private struct State {
        /// The requests, as long as they are under way. They hold the run, and the run holds them.
        var transfer: BatchTransfer?
        var hasEnded = false
        /// Whether an answer was one after which no other file is requested.
        var isHalted = false
    }

    init(
        _ connection: Connection, _ batch: FileBatch, _ receiver: any FileBatchReceiver, _ generation: Int,
        _ authorization: Authorization
    ) {
        (self.connection, self.batch, self.receiver) = (connection, batch, receiver)
        (self.generation, self.authorization) = (generation, authorization)
    }

    /// Notes the requests, of which some may have been answered already.
    func began(_ transfer: BatchTransfer) {
        let isHalted = state.withLock { state in
            if !state.hasEnded {
                state.transfer = transfer
                connection.batches.add(transfer)
            }
            return state.isHalted
        }
        if isHalted { transfer.stop() }
    }

    private var transfer: BatchTransfer? { state.withLock { $0.transfer } }

    func goOn() { transfer?.goOn() }
    func stop() { transfer?.stop() }
    func end(_ file: Int) { transfer?.end(file) }
    func cancel() { transfer?.cancel() }

    func mayStart(_ file: Int) -> BatchStart {
        guard !state.withLock({ $0.isHalted }), connection.maySend(generation) else { return .never }
        return switch receiver.mayStart(file) {
        case .now: .now
        case .later: .later
        case .never: .never
        }
    }

    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool { receiver.begin(file, at: place, sha1: sha1) }

    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool {
        receiver.take(bytes, of: file, at: place)
    }

    func end(_ file: Int, at place: Int, _ end: BatchEnd) {
        log(file, end)
        switch end {
        case .complete: receiver.end(file, at: place, .complete)
        case .brokenOff: receiver.end(file, at: place, .brokenOff)
        case .failed(.cancelled): receiver.end(file, at: place, .cancelled)
        case .failed(let error): hand(FirstAnswer(.failure(error), authorization, generation: generation, leave: nil))
        case .answer(let transfer):
            hand(
                FirstAnswer(
                    .success(transfer), authorization, generation: generation,
                    leave: { [gate = connection.gate] in gate.leave(.smallDownload) }))
        }
        func hand(_ answer: FirstAnswer) {
            if answer.concernsAll {
                state.withLock { $0.isHalted = true }
                stop()
            }
            receiver.end(file, at: place, .first(answer))
        }
    }

    func ended() {
        state.withLock { state in
            if let transfer = state.transfer { connection.batches.remove(transfer) }
            (state.transfer, state.hasEnded) = (nil, true)
        }
        receiver.ended()
    }

    private func log(_ file: Int, _ end: BatchEnd) {
        guard connection.logger.logLevel <= .debug else { return }
        let status: Int
        switch end {
        case .complete, .brokenOff: status = 200
        case .answer(let transfer): status = transfer.status
        case .failed: return
        }
        connection.logger.debug(
            "request",
            metadata: [
                "request": "\(idPrefix)\(file)", "method": "GET", "path": "\(batch.path(of: file))",
                "status": "\(status)",
            ])
    }
}
