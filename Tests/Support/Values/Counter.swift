import Synchronization

/// A number that several threads increase.
public final class Counter: Sendable {
    private let number = Mutex(0)

    public init() {}

    /// The present value.
    public var value: Int { number.withLock { $0 } }

    /// - Returns: the new value.
    @discardableResult
    public func add(_ number: Int = 1) -> Int {
        self.number.withLock { sum in
            sum += number
            return sum
        }
    }
}
