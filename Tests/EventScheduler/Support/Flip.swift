import Synchronization

/// As early as can be, then as late as can be, and so on.
final class Flip: Sendable {
    private let isLate = Mutex(true)

    func next() -> Double {
        isLate.withLock { isLate in
            isLate.toggle()
            return isLate ? 0.999 : 0
        }
    }
}
