import Glibc

/// A failed system call of the benchmark itself.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ call: String, _ path: String) { description = "\(call) \(path): \(String(cString: strerror(errno)))" }
}

/// The durations of an operation, one for each round.
struct Timing {
    private(set) var rounds: [Duration] = []

    mutating func add(_ duration: Duration) { rounds.append(duration) }

    mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { rounds.append(ContinuousClock.now - start) }
        return try body()
    }

    /// Returns a quantile of the durations, in milliseconds.
    func quantile(_ share: Double) -> Double {
        let sorted = rounds.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .milliseconds(1)
    }

    var median: Double { quantile(0.5) }
}

/// Returns a number with enough digits that small times can be compared.
func text(_ number: Double) -> String {
    let (scale, digits) = number >= 10 ? (10.0, 1) : number >= 1 ? (100.0, 2) : (1_000.0, 3)
    let parts = "\((number * scale).rounded() / scale)".split(separator: ".")
    let fraction = parts.count > 1 ? String(parts[1].prefix(digits)) : "0"
    return "\(parts[0]).\(fraction)" + String(repeating: "0", count: max(0, digits - fraction.count))
}
