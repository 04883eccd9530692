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
        guard let way = batchWay(bandwidth.down) else { return nil }
        let run = BatchRun(self, batch, receiver, way)
        let requests = self.requests(for: batch, by: way, idPrefix: run.hold.idPrefix)
        return run.hold.begin(requests, way, .smallDownload, for: run) ? run : nil
    }

    /// Whether small files can be requested in batches now: see ``download(_:for:)``.
    public var takesBatches: Bool { batchWay(bandwidth.down) != nil }

    /// What all requests of a batch have in common.
    struct BatchWay {
        var root: ServerAddress
        var transport: any HTTPTransport
        var generation: Int
        var authorization: Authorization
        /// The fields of each request.
        var headers: HTTPHeaders {
            var headers: HTTPHeaders = [
                "User-Agent": "Larder/\(Product.version)", "Accept-Encoding": "identity",
            ]
            if let field = authorization.field { headers.add(name: "Authorization", value: field) }
            return headers
        }
    }

    /// Returns the way of a batch; nil if files cannot go in batches now.
    /// - Parameter bandwidth: The bandwidth of the files' direction.
    func batchWay(_ bandwidth: BandwidthQueue) -> BatchWay? {
        do throws(ConnectionError) {
            guard !bandwidth.isLimited else { return nil }
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

    private func requests(for batch: FileBatch, by way: BatchWay, idPrefix: String) -> BatchRequests {
        let question = Question(method: "GET", timeLimit: timeLimits.head, expected: .transfer, doing: "")
        var requests = BatchRequests(.download, limits: answerLimits(question))
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

    fileprivate func turns(_ kind: RequestGate.Kind) -> BatchTurns {
        BatchTurns(
            take: { [gate = gate(kind)] in gate.tryEnter(kind) },
            leave: { [gate = gate(kind)] in
                gate.leave(kind, noting: $0.map { .answered(head: $0.head, body: $0.body) })
            },
            wait: { [gate = gate(kind)] body in
                Task {
                    // A task that nobody cancels gets its turn.
                    do { try await gate.enter(kind).handOver() } catch { return }
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

/// What the connection holds of a batch under way.
final class BatchHold: Sendable {
    private struct State {
        /// The requests, as long as they are under way. They hold their receiver, which holds this.
        var transfer: BatchTransfer?
        var hasEnded = false
        /// Whether an answer was one after which no other file is requested.
        var isHalted = false
    }

    private let connection: Connection
    private let generation: Int
    private let authorization: Authorization
    /// The beginning of the ids of the requests.
    let idPrefix = randomHex(bytes: 12)
    private let state = Mutex(State())

    init(_ connection: Connection, _ way: Connection.BatchWay) {
        (self.connection, generation, authorization) = (connection, way.generation, way.authorization)
    }

    /// Begins the requests.
    /// - Returns: False if they cannot go in a batch.
    func begin(
        _ requests: BatchRequests, _ way: Connection.BatchWay, _ kind: RequestGate.Kind, for receiver: any BatchReceiver
    ) -> Bool {
        // Accounts share the threads.
        let number = Int(truncatingIfNeeded: UInt(bitPattern: ObjectIdentifier(connection).hashValue))
        guard
            let transfer = way.transport.start(
                requests, places: connection.most, connection.turns(kind), number: number & Int.max, for: receiver)
        else { return false }
        // Some may have been answered already.
        let isHalted = state.withLock { state in
            if !state.hasEnded {
                state.transfer = transfer
                connection.batches.add(transfer)
            }
            return state.isHalted
        }
        if isHalted { transfer.stop() }
        return true
    }

    /// The requests, as long as they are under way.
    var transfer: BatchTransfer? { state.withLock { $0.transfer } }

    /// Whether another request may be sent.
    var maySend: Bool { !state.withLock { $0.isHalted } && connection.maySend(generation) }

    /// Starts no more requests.
    func halt() {
        state.withLock { $0.isHalted = true }
        transfer?.stop()
    }

    /// Returns an answer, or the lack of one, with which the file's request goes on alone. If it concerns more than the
    /// file, no further request is started.
    /// - Parameter leave: Gives the request's turn back; nil if it has none any more.
    func first(
        _ result: Result<Transfer, TransportError>, leave: (@Sendable () -> Void)?
    ) -> FirstAnswer {
        let answer = FirstAnswer(
            result, authorization, generation: generation, at: connection.clock.monotonic(), leave: leave)
        if answer.concernsAll { halt() }
        return answer
    }

    /// Notes that no request is under way any more.
    func ended() {
        state.withLock { state in
            if let transfer = state.transfer { connection.batches.remove(transfer) }
            (state.transfer, state.hasEnded) = (nil, true)
        }
    }

    /// Writes an answer to the log.
    func log(_ file: Int, _ method: String, status: Int, _ path: @autoclosure () -> ItemPath) {
        guard connection.logger.logLevel <= .debug else { return }
        connection.logger.debug(
            "request",
            metadata: [
                "request": "\(idPrefix)\(file)", "method": "\(method)", "path": "\(path())", "status": "\(status)",
            ])
    }
}

/// The requests of a batch of downloads, and what of their answers concerns the connection.
private final class BatchRun: FileBatchRun, BatchReceiver {
    private let batch: FileBatch
    private let receiver: any FileBatchReceiver
    private let gate: RequestGate
    let hold: BatchHold

    init(
        _ connection: Connection, _ batch: FileBatch, _ receiver: any FileBatchReceiver, _ way: Connection.BatchWay
    ) {
        (self.batch, self.receiver, gate) = (batch, receiver, connection.gate)
        hold = BatchHold(connection, way)
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
