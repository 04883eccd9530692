import NIOCore

/// The answer to a PROPFIND or REPORT, while it arrives.
///
/// One call at a time. An answer that is dropped or closed before its end is not fetched any further.
public actor MultistatusAnswer {
    /// 207; an answer with another status has no responses.
    public nonisolated let status: Int
    /// What is known at the end; nil before `next()` has returned nil.
    public private(set) var end: MultistatusEnd?

    private let body: BodyReader
    private let reader: MultistatusReader?
    /// Responses that are complete, the next one last.
    private var waiting: [MultistatusResponse] = []

    /// - Parameter reader: nil if the status is not 207; then `end` is given.
    init(status: Int, body: BodyReader, reader: sending MultistatusReader?, end: MultistatusEnd? = nil) {
        self.status = status
        self.body = body
        self.reader = reader
        self.end = end
    }

    /// The next response; nil after the last, and then each time.
    /// - Throws: if the answer ends too soon, makes no sense, or the task is cancelled: what came is then not all.
    public func next() async throws(ConnectionError) -> MultistatusResponse? {
        while true {
            if let response = waiting.popLast() { return response }
            guard end == nil, let reader else { return nil }
            if let chunk = try await body.next() {
                waiting = try Self.read(chunk, by: reader).reversed()
            } else {
                end = try reader.finish()
            }
        }
    }

    /// Fetches no more.
    public func close() async {
        waiting = []
        await body.close()
    }

    private static func read(
        _ chunk: ByteBuffer, by reader: MultistatusReader
    ) throws(ConnectionError) -> [MultistatusResponse] {
        let result = chunk.withUnsafeReadableBytes { bytes in
            Result { () throws(ConnectionError) in try reader.read(bytes) }
        }
        return try result.get()
    }
}
