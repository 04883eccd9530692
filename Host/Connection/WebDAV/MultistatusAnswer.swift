public import Model
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
    /// - Throws: `unreachable` if the answer is cut off, `protocolViolation` if it makes no sense, `cancelled` after
    ///   ``close()`` or if the task is cancelled: what came is then not all.
    public func next() async throws(ConnectionError) -> MultistatusResponse? {
        if waiting.isEmpty { waiting = try await some().reversed() }
        return waiting.popLast()
    }

    /// As many responses as came at once; none after the last, and then each time.
    /// - Throws: As ``next()``.
    public func some() async throws(ConnectionError) -> [MultistatusResponse] {
        guard waiting.isEmpty else {
            defer { waiting = [] }
            return waiting.reversed()
        }
        while end == nil, let reader {
            guard let chunk = try await body.next() else {
                end = try reader.finish()
                break
            }
            let responses = try Self.read(chunk, by: reader)
            if !responses.isEmpty { return responses }
        }
        return []
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
