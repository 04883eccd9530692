/// The host's random numbers: the system's, or those that a test brings so that it can repeat them by a seed.
public struct HostRandom: RandomNumberGenerator {
    /// What a test brings in their place.
    public struct Source: Sendable {
        public var next: @Sendable () -> UInt64
        /// The time that goes into new ids.
        public var now: @Sendable () -> Timestamp

        public init(next: @escaping @Sendable () -> UInt64, now: @escaping @Sendable () -> Timestamp) {
            self.next = next
            self.now = now
        }
    }

    /// Of the current task and those that it makes; nil: the system's.
    @TaskLocal public static var source: Source?

    public init() {}

    public func next() -> UInt64 {
        if let source = Self.source { return source.next() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// A number from 0 to 1, without 1.
    public static func fraction() -> Double {
        var random = HostRandom()
        return .random(in: 0..<1, using: &random)
    }
}
