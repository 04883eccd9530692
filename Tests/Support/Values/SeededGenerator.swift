import Glibc

/// A sequence of random numbers that its seed reproduces (SplitMix64). All random tests draw from it.
///
/// `LARDER_TEST_SEED` sets the seed of a test, and `LARDER_TEST_ROUNDS` the number of rounds: some thousands take a
/// moment, millions a night. The seed is printed when the test begins, since after a crash nothing else tells the seed.
/// The seed belongs into the comments of the test's expectations, as `LARDER_TEST_SEED=…`.
public struct SeededGenerator: RandomNumberGenerator {
    /// The seed that reproduces the sequence.
    public let seed: UInt64
    private var state: UInt64

    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Makes the generator of a test, with the seed in `LARDER_TEST_SEED` or else a new seed, and prints the seed.
    public init() {
        self.init(seed: getenv("LARDER_TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0 ... .max))
        print("LARDER_TEST_SEED=\(seed)")
    }

    /// Returns the number of rounds of a test.
    /// - Parameter usual: the number without `LARDER_TEST_ROUNDS`.
    public static func rounds(usually usual: Int = 2_000) -> Int {
        getenv("LARDER_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? usual
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
