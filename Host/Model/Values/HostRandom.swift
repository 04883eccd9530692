import Glibc
import Synchronization

/// The host's random numbers: those of the system, or those of a test that repeats them by a seed.
public struct HostRandom: RandomNumberGenerator {
    /// A test's source of numbers.
    public struct Source: Sendable {
        /// Returns the next number.
        public var next: @Sendable () -> UInt64
        /// Returns the time that goes into new ids.
        public var now: @Sendable () -> Timestamp

        /// Creates a source.
        public init(next: @escaping @Sendable () -> UInt64, now: @escaping @Sendable () -> Timestamp) {
            self.next = next
            self.now = now
        }
    }

    /// The source for the current task and the tasks that it creates, or nil for the system's numbers.
    @TaskLocal public static var source: Source?

    /// Creates a generator.
    public init() {}

    public func next() -> UInt64 {
        if let source = Self.source { return source.next() }
        return Self.system.withLock { $0.next() }
    }

    private static let system = Mutex(SystemNumbers())

    /// Numbers of the system's that were fetched together, since each fetch is a system call.
    private struct SystemNumbers {
        private var numbers: [UInt64] = []

        mutating func next() -> UInt64 {
            if numbers.isEmpty {
                // The most that one call gives.
                numbers = [UInt64](repeating: 0, count: 256 / 8)
                let isFilled = numbers.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
                if !isFilled {
                    var system = SystemRandomNumberGenerator()
                    for index in numbers.indices { numbers[index] = system.next() }
                }
            }
            return numbers.removeLast()
        }
    }

    /// Returns a number from 0 to 1, excluding 1.
    public static func fraction() -> Double {
        var random = HostRandom()
        return .random(in: 0..<1, using: &random)
    }
}
