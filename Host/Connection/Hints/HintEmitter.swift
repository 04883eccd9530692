import Model
import Synchronization

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
