import Logging
import Model
import Synchronization
import Transfer

/// The batches under way of a wire.
final class BatchesUnderWay: Sendable {
    private let runs = Mutex<[BatchTransfer]>([])

    func add(_ transfer: BatchTransfer) { runs.withLock { $0.append(transfer) } }
    func remove(_ transfer: BatchTransfer) { runs.withLock { $0.removeAll { $0 === transfer } } }

    /// Has them begin requests, after a turn was given back.
    func tryTurns() { for transfer in runs.withLock(\.self) { transfer.tryTurn() } }
}

/// What the wire holds of a batch under way.
final class BatchHold: Sendable {
    private struct State {
        /// The requests, as long as they are under way. They hold their receiver, which holds this.
        var transfer: BatchTransfer?
        var hasEnded = false
        /// Whether an answer was one after which no other file is requested.
        var isHalted = false
    }

    private let wire: Wire
    private let generation: Int
    private let authorization: Authorization
    /// The beginning of the ids of the requests.
    let idPrefix = randomHex(bytes: 12)
    private let state = Mutex(State())

    init(_ wire: Wire, _ way: Wire.BatchWay) {
        (self.wire, generation, authorization) = (wire, way.generation, way.authorization)
    }

    /// Begins the requests.
    /// - Returns: False if they cannot go in a batch.
    func begin(
        _ requests: BatchRequests, _ way: Wire.BatchWay, _ kind: RequestGate.Kind, for receiver: any BatchReceiver
    ) -> Bool {
        // Accounts share the threads.
        let number = Int(truncatingIfNeeded: UInt(bitPattern: ObjectIdentifier(wire).hashValue))
        guard
            let transfer = way.transport.start(
                requests, places: wire.most, wire.turns(kind), number: number & Int.max, for: receiver)
        else { return false }
        // Some may have been answered already.
        let isHalted = state.withLock { state in
            if !state.hasEnded {
                state.transfer = transfer
                wire.batches.add(transfer)
            }
            return state.isHalted
        }
        if isHalted { transfer.stop() }
        return true
    }

    /// The requests, as long as they are under way.
    var transfer: BatchTransfer? { state.withLock { $0.transfer } }

    /// Whether another request may be sent.
    var maySend: Bool { !state.withLock { $0.isHalted } && wire.maySend(generation) }

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
            result, authorization, generation: generation, at: wire.clock.monotonic(), leave: leave)
        if answer.concernsAll { halt() }
        return answer
    }

    /// Notes that no request is under way any more.
    func ended() {
        state.withLock { state in
            if let transfer = state.transfer { wire.batches.remove(transfer) }
            (state.transfer, state.hasEnded) = (nil, true)
        }
    }

    /// Writes an answer to the log.
    func log(_ file: Int, _ method: String, status: Int, _ path: @autoclosure () -> ItemPath) {
        guard wire.logger.logLevel <= .debug else { return }
        wire.logger.debug(
            "request",
            metadata: [
                "request": "\(idPrefix)\(file)", "method": "\(method)", "path": "\(path())", "status": "\(status)",
            ])
    }
}
