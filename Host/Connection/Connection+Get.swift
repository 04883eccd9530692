public import Model
import NIOCore

extension Connection {
    /// Downloads a file, or the rest of it, into a sink (GET; RFC 9110).
    ///
    /// The answer's ETag and length are compared with what was asked for, whatever the server made of the conditions.
    /// - Throws: `ConnectionError`, or what the sink threw. Bytes that the sink has taken by then are those of the head's version:
    ///   a download that was cut off can go on at their number, unless the error is `versionChanged`.
    public func get(
        _ path: ItemPath, request: DownloadRequest = DownloadRequest(), into sink: some DownloadSink
    ) async throws -> DownloadSummary {
        var request = request
        let address = try root().appending(PercentCoding.encoded(path: String(path.text.dropFirst())))
        var question = Question(method: "GET", timeLimit: timeLimits.head, doing: "downloading \(path)")

        try await enterGate(question)
        defer { gate.leave() }
        question.headers = DownloadAnswer.conditions(of: request)
        var reply = try await ask(question, at: address)
        if DownloadAnswer.beginsAnew(status: reply.answer.status, reply.answer.headers, to: request) {
            // The rest of a short answer is read, so that its connection serves again.
            if reply.answer.status == 416 { _ = await reply.answer.beginning(atMost: 16_384) }
            request.offset = 0
            question.headers = DownloadAnswer.conditions(of: request)
            reply = try await ask(question, at: address)
        }
        guard reply.answer.status == 200 || reply.answer.status == 206 else {
            throw await error(for: &reply.answer, question, at: reply.address.origin)
        }
        let head = try DownloadAnswer.head(
            status: reply.answer.status, reply.answer.headers, to: request, wasRedirected: reply.wasRedirected,
            path: path)
        try sink.begin(head)
        let listed = head.size ?? request.size
        let received = try await pour(
            &reply.answer, question, at: address.origin, atMost: listed.map { $0 - head.offset }, of: path, into: sink)
        try DownloadAnswer.check(received: received, against: head, request: request, path: path)
        return DownloadSummary(head: head, received: received)
    }

    /// Hands the body on. Small chunks are put together first: HTTP/2 gives 16 KiB at a time, and each write is a system call.
    /// - Parameter most: How many bytes belong to the file; nil if nobody said. With the first that is over, nothing more is read.
    private func pour(
        _ answer: inout HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin, atMost most: Int64?,
        of path: ItemPath, into sink: some DownloadSink
    ) async throws -> Int64 {
        let enough = 65_536
        var received: Int64 = 0
        var waiting = ByteBuffer()
        while true {
            let chunk: ByteBuffer?
            do throws(ConnectionError) {
                chunk = try await nextChunk(of: &answer, question, at: origin)
            } catch {
                // What came before a cut is worth keeping: the next attempt goes on after it.
                try write(&waiting, to: sink)
                throw error
            }
            guard let chunk else { break }
            received += Int64(chunk.readableBytes)
            if let most, received > most { throw DownloadAnswer.tooLong(path) }
            if waiting.readableBytes == 0 { waiting = chunk } else { waiting.writeImmutableBuffer(chunk) }
            if waiting.readableBytes >= enough { try write(&waiting, to: sink) }
        }
        try write(&waiting, to: sink)
        return received
    }

    private func write(_ buffer: inout ByteBuffer, to sink: some DownloadSink) throws {
        guard buffer.readableBytes > 0 else { return }
        try buffer.withUnsafeReadableBytes { try sink.write($0) }
        buffer.clear()
    }
}
