import Model
import Synchronization
import Transfer

/// The answer to a request that was sent with a batch and turned out not to be ordinary, or the lack of an answer. A
/// download or an upload goes on with it as if it had sent the request itself. Dropping it ends the request.
public final class FirstAnswer: Sendable {
    private let result: Mutex<Result<Transfer, TransportError>?>
    private let turn: Mutex<(@Sendable () -> Void)?>
    /// The proof of the account that the request had.
    let authorization: Authorization
    /// The generation of the credentials. With others, a download is requested again.
    let generation: Int
    /// The status of the answer; nil if there was none.
    let status: Int?
    /// Whether the server may have carried out the request, if that is a change.
    public let mayHaveArrived: Bool
    /// The time of the answer, on the monotonic clock.
    public let time: Duration

    /// - Parameters:
    ///   - time: The time now, on the monotonic clock.
    ///   - leave: Gives back the turn that the request has; nil if it has none any more.
    init(
        _ result: Result<Transfer, TransportError>, _ authorization: Authorization, generation: Int,
        at time: Duration = .zero, leave: (@Sendable () -> Void)?
    ) {
        self.result = Mutex(result)
        turn = Mutex(leave)
        (self.authorization, self.generation, self.time) = (authorization, generation, time)
        switch result {
        case .success(let transfer):
            status = transfer.status
            concernsAll = Self.concernsAll(transfer.status)
            mayHaveArrived = WriteMeaning.mayHaveArrived(transfer.status)
        case .failure(let error):
            status = nil
            concernsAll = true
            mayHaveArrived = error.mayHaveArrived
        }
    }

    /// Whether nobody has taken the answer yet.
    var isLeft: Bool { result.withLock { $0 != nil } }

    /// Whether other requests may be answered in the same way: there was no answer, or one that says more of the server or
    /// the account than of the file.
    public let concernsAll: Bool

    /// Whether a status may be that of all other requests too.
    static func concernsAll(_ status: Int) -> Bool {
        [401, 403, 407, 408, 425, 429].contains(status) || status >= 500
    }

    /// Takes the answer. Later calls return nil.
    func take() -> Result<Transfer, TransportError>? { result.withLock { $0.take() } }

    /// Takes over the turn, which the caller gives back.
    /// - Returns: Whether there was one.
    func takeTurn() -> Bool { turn.withLock { $0.take() } != nil }

    deinit {
        if case .success(let transfer) = take() { transfer.cancel() }
        turn.withLock { $0.take() }?()
    }
}
