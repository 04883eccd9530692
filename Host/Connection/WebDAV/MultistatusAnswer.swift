public import Model
import Transfer

/// The answer to a PROPFIND or REPORT while it arrives.
///
/// Only one call may be under way at a time. Dropping or closing the answer before its end ends the request.
public actor MultistatusAnswer {
    /// The answer's status. An answer with another status than 207 has no responses.
    public nonisolated let status: Int
    /// The facts about the whole answer; nil before `next()` has returned nil.
    public private(set) var end: MultistatusEnd?

    private let body: BodyReader
    private let reader: MultistatusReader?
    /// The complete responses, with the next one last.
    private var waiting: [MultistatusResponse] = []

    /// Creates an answer.
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - body: The body of the answer.
    ///   - reader: The reader of the body; nil if the status is not 207, and then `end` is given.
    ///   - end: The facts about the whole answer.
    init(status: Int, body: BodyReader, reader: sending MultistatusReader?, end: MultistatusEnd? = nil) {
        self.status = status
        self.body = body
        self.reader = reader
        self.end = end
    }

    /// Returns the next response; nil after the last response, at every further call too.
    /// - Throws: `unreachable` if the answer is cut off; `protocolViolation` if it cannot be read; `cancelled` after
    ///   ``close()`` or if the task is cancelled. The responses before an error are not complete.
    public func next() async throws(ConnectionError) -> MultistatusResponse? {
        if waiting.isEmpty { waiting = try await some().reversed() }
        return waiting.popLast()
    }

    /// Returns the responses that have arrived together; empty after the last response, at every further call too.
    /// - Throws: The errors of ``next()``.
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

    /// Stops reading the answer.
    public func close() async {
        waiting = []
        await body.close()
    }

    private static func read(
        _ chunk: [UInt8], by reader: MultistatusReader
    ) throws(ConnectionError) -> [MultistatusResponse] {
        let result = chunk.withUnsafeBytes { bytes in
            Result { () throws(ConnectionError) in try reader.read(bytes) }
        }
        return try result.get()
    }
}
