import Model

/// The progress of the transfers, with the recent rate and the time that is left.
struct Progress {
    /// The files and bytes that are done since the start, and the totals that are wanted.
    struct Counts: Hashable, Sendable {
        var files: Int64
        var allFiles: Int64
        var bytes: Int64
        var allBytes: Int64
    }

    /// The time over which the rate is measured.
    static let window: Duration = .seconds(10)

    private var samples: [(time: Duration, bytes: Int64)] = []
    private(set) var counts = Counts(files: 0, allFiles: 0, bytes: 0, allBytes: 0)

    /// Adds a sample.
    /// - Parameter time: the time of the sample, from a clock that never jumps.
    mutating func add(_ counts: Counts, at time: Duration) {
        self.counts = counts
        samples.append((time, counts.bytes))
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
    }

    /// The rate in bytes per second; nil while fewer than two samples exist.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        return max(0, Double(last.bytes - first.bytes)) / (Double((last.time - first.time).nanoseconds) / 1e9)
    }

    /// The time until everything is here; nil while it is unknown.
    var left: Duration? {
        guard let rate, rate >= 1 else { return nil }
        let left = Double(max(0, counts.allBytes.subtracting(counts.bytes)))
        return left / rate < 1e9 ? .seconds(left / rate) : nil
    }

    /// Returns the line of progress; nil if nothing is left to transfer.
    /// - Parameter width: the number of columns, to which the line is cut.
    func line(width: Int) -> String? {
        guard counts.allFiles > counts.files || counts.allBytes > counts.bytes else { return nil }
        var parts = [
            "\(counts.files) of \(Text.count(counts.allFiles, "file"))",
            "\(Text.bytes(counts.bytes)) of \(Text.bytes(counts.allBytes))",
        ]
        if let rate { parts.append("\(Text.bytes(Int64(nearest: rate)))/s") }
        if let left { parts.append("\(Text.rough(left)) left") }
        return String(parts.joined(separator: " · ").prefix(max(1, width - 1)))
    }
}
