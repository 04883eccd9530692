import Model

/// Decides when transfers of one direction may take their next bytes. A value without I/O.
///
/// It is a token bucket with two queues, for small and for large files. The bucket fills at the limit and holds what
/// comes in in a ``burst``. A request is granted when the bucket has its bytes. While requests of both classes wait, each
/// class gets half of the bytes (start-time fair queueing); a class that waits alone gets all. Within a class requests
/// are granted in their order, so transfers that ask for one piece after the other take turns.
///
/// All times are those of one monotonic clock, whose zero is arbitrary.
struct BandwidthShare: Sendable {
    private struct Request: Sendable {
        let number: Int
        let bytes: Int
    }

    private struct Queue: Sendable {
        var requests: [Request] = []
        /// The virtual time at which the first request starts. It grows with the bytes that the class gets.
        var start: Int64 = 0
    }

    /// The bytes per second; nil grants everything at once.
    var limit: Int64?

    private var small = Queue()
    private var large = Queue()
    /// The start of the request that was granted last. A class that has had nothing to send begins here, so that it
    /// cannot make up for that later.
    private var virtualTime: Int64 = 0
    /// The time at which the bucket was empty, counted back from what is in it.
    private var emptySince = Duration.zero

    /// The time in which an empty bucket becomes full.
    static let burst: Duration = .milliseconds(250)

    /// Creates a share.
    /// - Parameter limit: The bytes per second; nil grants everything at once.
    init(limit: Int64? = nil) { self.limit = limit }

    /// Whether no request waits.
    var isEmpty: Bool { small.requests.isEmpty && large.requests.isEmpty }

    /// The time at which the next request can be granted; nil if none waits.
    var due: Duration? {
        guard let next, let first = self[next].requests.first else { return nil }
        guard let limit else { return emptySince }
        // A duration counts attoseconds in 128 bits, which are enough for any two numbers.
        return emptySince + Duration.seconds(1) * first.bytes / max(1, limit)
    }

    /// Adds a request.
    /// - Parameters:
    ///   - number: The name of the request.
    ///   - bytes: The number of bytes that the transfer takes. It may be larger than the bucket.
    mutating func ask(_ number: Int, for bytes: Int, of size: SizeClass, at now: Duration) {
        if isEmpty { limitBucket(at: now) }
        if self[size].requests.isEmpty { self[size].start = max(self[size].start, virtualTime) }
        self[size].requests.append(Request(number: number, bytes: bytes))
    }

    /// Removes a request that waits, if there is one with this number.
    mutating func withdraw(_ number: Int) {
        small.requests.removeAll { $0.number == number }
        large.requests.removeAll { $0.number == number }
    }

    /// Grants all requests that are due.
    /// - Returns: Their numbers, in the order in which they were granted.
    mutating func grant(at now: Duration) -> [Int] {
        var granted: [Int] = []
        while let next, let due, due <= now {
            let request = self[next].requests.removeFirst()
            virtualTime = self[next].start
            self[next].start = virtualTime.adding(Int64(request.bytes))
            if limit != nil { emptySince = due }
            // A call that comes late makes up for a burst at most.
            limitBucket(at: now)
            granted.append(request.number)
        }
        return granted
    }

    private mutating func limitBucket(at now: Duration) { emptySince = max(emptySince, now - Self.burst) }

    /// The class whose turn it is; nil if no request waits.
    private var next: SizeClass? {
        switch (small.requests.isEmpty, large.requests.isEmpty) {
        case (true, true): nil
        case (false, true): .small
        case (true, false): .large
        case (false, false): small.start <= large.start ? .small : .large
        }
    }

    private subscript(size: SizeClass) -> Queue {
        get { size == .small ? small : large }
        set { if size == .small { small = newValue } else { large = newValue } }
    }
}
