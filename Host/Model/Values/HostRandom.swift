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
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// Returns a number from 0 to 1, excluding 1.
    public static func fraction() -> Double {
        var random = HostRandom()
        return .random(in: 0..<1, using: &random)
    }
}
