import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Sends an answer, as far as the faults let it, and writes the log's line.
struct Delivery: Sendable {
    let answer: Answer
    let faults: [(id: FaultID, kind: Fault.Kind)]
    let list: FaultList
    let log: RequestLog
    let channel: any Channel

    private struct CutOff: Error {}

    /// - Parameters:
    ///   - announcesLength: whether a file's length stands in the head.
    ///   - entry: the log's line, but for the bytes.
    func response(isHead: Bool, announcesLength: Bool, entry: DemoServer.LoggedRequest) -> Response {
        var fields = answer.fields
        var length = answer.length
        if case .content = answer.body, !announcesLength { length = nil }
        if let length { fields[.contentLength] = String(length) }
        if isHead {
            log.append(entry)
            return Response(status: answer.status, headers: fields)
        }
        if case .bytes(let buffer) = answer.body, stop == nil {
            var entry = entry
            entry.bytes = buffer.readableBytes
            log.append(entry)
            return Response(status: answer.status, headers: fields, body: .init(byteBuffer: buffer))
        }
        return Response(
            status: answer.status, headers: fields,
            body: .init(contentLength: length) { writer in
                try await stream(to: &writer, entry)
            })
    }

    /// Where the body stops before its end.
    private var stop: (after: Int, fault: FaultID, forGood: Bool)? {
        for fault in faults {
            switch fault.kind {
            case .cutOff(let bytes): return (bytes, fault.id, true)
            case .hold(let bytes?): return (bytes, fault.id, false)
            default: break
            }
        }
        return nil
    }

    private func stream(to writer: inout any ResponseBodyWriter, _ entry: DemoServer.LoggedRequest) async throws {
        var sent = 0
        var stop = stop
        do {
            try await answer.send { chunk in
                var chunk = chunk
                if let here = stop, sent + chunk.readableBytes >= here.after {
                    if let first = chunk.readSlice(length: max(0, here.after - sent)) {
                        try await writer.write(first)
                        sent += first.readableBytes
                    }
                    if here.forGood { throw CutOff() }
                    await list.hold(here.fault)
                    stop = nil
                }
                try await writer.write(chunk)
                sent += chunk.readableBytes
            }
        } catch {
            finish(entry, sent)
            // The answer cannot be ended properly any more; whoever reads must see that it was not.
            try await channel.close()
            throw error
        }
        // Before the last byte: who got the answer finds its line in the log.
        finish(entry, sent)
        try await writer.finish(nil)
    }

    private func finish(_ entry: DemoServer.LoggedRequest, _ bytes: Int) {
        var entry = entry
        entry.bytes = bytes
        log.append(entry)
    }
}

/// The requests that were answered.
final class RequestLog: Sendable {
    private let state = Mutex<[DemoServer.LoggedRequest]>([])

    var all: [DemoServer.LoggedRequest] { state.withLock { $0 } }

    func append(_ entry: DemoServer.LoggedRequest) { state.withLock { $0.append(entry) } }

    func clear() { state.withLock { $0.removeAll() } }
}
