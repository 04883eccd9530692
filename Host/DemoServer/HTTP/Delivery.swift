import HTTPTypes
import Hummingbird
import NIOCore

/// The sending of an answer.
struct Delivery: Sendable {
    let answer: Answer
    let channel: any Channel
    /// Receives the number of bytes of the body that were sent, before the last of them is sent.
    let sent: @Sendable (Int) -> Void

    func response(isHead: Bool) -> Response {
        var fields = answer.fields
        let length = answer.length
        if let length { fields[.contentLength] = String(length) }
        if isHead {
            sent(0)
            return Response(status: answer.status, headers: fields)
        }
        if case .bytes(let buffer) = answer.body {
            sent(buffer.readableBytes)
            return Response(status: answer.status, headers: fields, body: .init(byteBuffer: buffer))
        }
        return Response(
            status: answer.status, headers: fields,
            body: .init(contentLength: length) { writer in try await stream(to: &writer) })
    }

    private func stream(to writer: inout any ResponseBodyWriter) async throws {
        var bytes = 0
        do {
            try await answer.send { chunk in
                try await writer.write(chunk)
                bytes += chunk.readableBytes
            }
        } catch {
            sent(bytes)
            // The answer cannot be completed any more; the client must notice that.
            try await channel.close()
            throw error
        }
        // This call comes before the last byte, so that a client that received the answer finds the request in the log.
        sent(bytes)
        try await writer.finish(nil)
    }
}
