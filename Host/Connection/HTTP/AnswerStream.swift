import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import Synchronization

/// An answer on its way from the event loop to the task that reads the answer.
///
/// The event loop puts in what arrives. The reader takes out everything that is there without waiting for the loop each
/// time, so that a small answer costs one change of threads. When the reader falls behind, no more is read from the
/// network.
final class AnswerStream: HTTPClientResponseDelegate {
    typealias Response = Void

    private struct State {
        var head: HTTPResponseHead?
        var chunks = CircularBuffer<ByteBuffer>()
        /// The number of bytes in `chunks`.
        var waiting = 0
        /// The result with which the request ended; nil while the request is under way.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// The promise that the event loop waits for when too many bytes wait; kept until there is room for more.
        var room: EventLoopPromise<Void>?
        var task: HTTPClient.Task<Void>?
        var began = Duration.zero
        var isCancelled = false
        /// The timer that ends the request if its head, and then its body, take too long.
        var limit: Scheduled<Void>?
        /// The timer that ends the request if nothing arrives for too long.
        var silence: Scheduled<Void>?
        /// The time at which something arrived last, or at which the reader had room for more again.
        var heard = Duration.zero
        /// The pace at which the body arrives; nil before the head, and if the body may take any time.
        var pace: TransferPace?
    }

    private let state = Mutex(State())
    private let limits: AnswerLimits
    private let silence: Duration

    /// Creates the stream of an answer.
    /// - Parameters:
    ///   - limits: The time limits of the answer.
    ///   - silence: The limit between two pieces of the answer. Time in which the reader has no room for more does not
    ///     count.
    init(_ limits: AnswerLimits, silence: Duration) { (self.limits, self.silence) = (limits, silence) }

    /// The number of bytes that may wait for the reader. When more wait, no further piece is read from the network.
    private static let most = 262_144

    /// Sends a request. Must be called on the loop, which must be one of the client's.
    func start(_ request: HTTPClient.Request, by client: HTTPClient, on loop: any EventLoop) {
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: loop))
        let limit = loop.scheduleTask(in: TimeAmount(limits.head)) {
            task.fail(reason: HTTPClientError.deadlineExceeded)
        }
        let isCancelled = state.withLock { state in
            (state.task, state.limit, state.began) = (task, limit, .uptime)
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        // The future completes at every end, also when the request was never sent.
        task.futureResult.whenComplete { self.end($0) }
    }

    func end(_ result: Result<Void, any Error>) {
        let (reader, limit, silence, room) = state.withLock { state in
            state.end = result
            state.task = nil
            return (state.reader.take(), state.limit.take(), state.silence.take(), state.room.take())
        }
        limit?.cancel()
        silence?.cancel()
        // No reader may be left that takes out the waiting bytes.
        room?.succeed()
        reader?.resume()
    }

    /// Ends the request if it is still under way.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

// MARK: On the event loop

extension AnswerStream {
    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        // The time for an error document begins with the head, since the head of a listing may take minutes.
        let isError = !(200..<300).contains(head.status.code)
        let body = isError ? .whole(within: limits.errorDocument) : limits.body
        let (reader, limit, began) = state.withLock { state in
            state.head = head
            state.heard = .uptime
            if case .pace(let least) = body { state.pace = TransferPace(least) }
            return (state.reader.take(), state.limit.take(), state.began)
        }
        limit?.cancel()
        switch body {
        case .none: break
        case .whole(let duration):
            let passed = isError ? .zero : .uptime - began
            let limit = task.eventLoop.scheduleTask(in: TimeAmount(max(.zero, duration - passed))) {
                task.fail(reason: TransportError.endless(within: duration))
            }
            state.withLock { $0.limit = limit }
        case .pace(let least): watchPace(of: task, least)
        }
        watchSilence(of: task, for: silence)
        reader?.resume()
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// Checks the pace at each interval. One timer serves all chunks.
    private func watchPace(of task: HTTPClient.Task<Void>, _ least: LeastPace) {
        let limit = task.eventLoop.scheduleTask(in: TimeAmount(TransferPace.interval(of: least))) { [self] in
            if let rate = state.withLock({ $0.pace?.tick(at: .uptime) }) {
                task.fail(reason: TransportError.tooSlow(rate, least))
            } else {
                watchPace(of: task, least)
            }
        }
        state.withLock { $0.limit = limit }
    }

    /// Checks after a while whether anything has arrived. One timer serves all chunks.
    ///
    /// The library's own timer would also end requests whose reader takes nothing on purpose.
    private func watchSilence(of task: HTTPClient.Task<Void>, for wait: Duration) {
        let timer = task.eventLoop.scheduleTask(in: TimeAmount(wait)) { [self] in
            let rest = state.withLock { state -> Duration? in
                if state.end != nil { return nil }
                return state.room == nil ? silence - (.uptime - state.heard) : silence
            }
            guard let rest else { return }
            if rest > .zero {
                watchSilence(of: task, for: rest)
            } else {
                task.fail(reason: HTTPClientError.readTimeout)
            }
        }
        state.withLock { $0.silence = timer }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let (reader, room) = state.withLock { state in
            state.chunks.append(buffer)
            state.waiting += buffer.readableBytes
            state.heard = .uptime
            state.pace?.arrived(buffer.readableBytes)
            if state.reader != nil { state.pace?.endWaiting(at: .uptime) }
            if state.waiting > Self.most { state.room = task.eventLoop.makePromise() }
            return (state.reader.take(), state.room)
        }
        reader?.resume()
        return room?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}
}

// MARK: In the reader's task

extension AnswerStream {
    /// Returns the answer's head as soon as it has arrived.
    func head() async throws -> HTTPResponseHead {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            try end?.get()
            await wait { $0.head != nil }
        }
    }

    /// Returns the next piece of the body; nil after the last piece.
    func next() async throws -> ByteBuffer? {
        while true {
            let (chunk, room, end) = state.withLock { state in
                let chunk = state.chunks.popFirst()
                state.waiting -= chunk?.readableBytes ?? 0
                let room = state.waiting <= Self.most / 2 ? state.room.take() : nil
                if room != nil { state.heard = .uptime }
                return (chunk, room, state.end)
            }
            room?.succeed()
            if let chunk { return chunk }
            if let end {
                try end.get()
                return nil
            }
            await wait { !$0.chunks.isEmpty }
        }
    }

    /// Returns when the expected part may have arrived or the request has ended. Cancelling the reader's task ends the
    /// request.
    private func wait(_ isThere: @Sendable (borrowing State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.end != nil || isThere(state) { return true }
                    state.reader = continuation
                    state.pace?.beginWaiting(at: .uptime)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}

extension Duration {
    /// The time of the clock that event loops' timers use.
    static var uptime: Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }
}
