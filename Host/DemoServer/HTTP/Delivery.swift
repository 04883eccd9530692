import HTTPTypes
import Hummingbird
import NIOCore

/// Sends an answer.
struct Delivery: Sendable {
    let answer: Answer
    let channel: any Channel
    /// Is told of how many bytes of the body went out, before the last of them does.
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
            // The answer cannot be ended properly any more; whoever reads must see that it was not.
            try await channel.close()
            throw error
        }
        // Before the last byte: who got the answer finds its line in the log.
        sent(bytes)
        try await writer.finish(nil)
    }
}
