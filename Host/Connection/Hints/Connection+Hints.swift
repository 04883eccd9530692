public import Model
import Synchronization

extension Connection {
    /// Listens to the server's announcements until the stream is dropped or the task that reads the stream is
    /// cancelled.
    ///
    /// A hint says where to check now. It never says what happened there. OpenCloud sends hints as events. Events
    /// before the connection are lost, so each connection begins with a hint for everything. Nextcloud is asked for its
    /// notifications and activities. Other servers are asked once a day whether they have become one of these. Hints
    /// that nobody has taken yet are merged into one.
    public func hints() -> AsyncStream<HintSet> {
        let (stream, continuation) = AsyncStream.makeStream(of: HintSet.self, bufferingPolicy: .bufferingNewest(1))
        let listener = HintListener(wire: wire, emit: HintEmitter(continuation))
        // The stream owns the task, so the task ends with the stream.
        let task = Task { await listener.listen() }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// A sender of hints. It merges hints that nobody has taken yet.
final class HintEmitter: Sendable {
    private let continuation: AsyncStream<HintSet>.Continuation
    private let turn = Mutex(())

    init(_ continuation: AsyncStream<HintSet>.Continuation) { self.continuation = continuation }

    func callAsFunction(_ hints: HintSet) {
        guard !hints.isEmpty else { return }
        turn.withLock { _ in
            if case .dropped(let waiting) = continuation.yield(hints), waiting != hints {
                continuation.yield(hints.union(waiting))
            }
        }
    }

    func finish() { continuation.finish() }
}
