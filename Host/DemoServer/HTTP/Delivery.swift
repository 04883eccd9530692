import HTTP
import HTTPTypes
import Model
import Threads

/// The sending of an answer.
struct Delivery: Sendable {
    let answer: Answer
    let socket: PolledSocket
    /// Whether the request's method is HEAD, so that the answer has no body.
    let isHead: Bool
    /// Whether the client can read a body in pieces (HTTP/1.1).
    let takesPieces: Bool
    /// Whether the connection ends with the answer.
    var isLast: Bool
    /// Receives the number of bytes of the body that were sent, before the last of them is sent, so that a client that
    /// received the answer finds the request in the log.
    let sent: @Sendable (Int) -> Void

    private var hasBody: Bool { !isHead && answer.status != .noContent && answer.status != .notModified }

    /// Sends the answer.
    /// - Returns: Whether the connection can be used for another request.
    /// - Throws: Why the answer cannot be completed. The client must notice that.
    func send() async throws -> Bool {
        var isLast = isLast
        var fields = answer.fields
        let length = answer.length
        var inPieces = false
        if let length {
            if hasBody || isHead { fields[.contentLength] = String(length) }
        } else if hasBody {
            inPieces = takesPieces
            if inPieces { fields[.transferEncoding] = "chunked" } else { isLast = true }
        }
        if isLast { fields[.connection] = "close" }
        if fields[.date] == nil { fields[.date] = Timestamp.now().httpDate }
        let head = Self.head(answer.status, fields)
        guard hasBody else {
            // A fault may stop an answer without a body too.
            if !isHead { try await answer.send { _ in try Task.checkCancellation() } }
            sent(0)
            try await socket.write(head)
            return !isLast
        }
        if case .bytes(let bytes) = answer.body {
            sent(bytes.count)
            try await socket.write(head + bytes)
            return !isLast
        }
        if length == 0 { sent(0) }
        try await socket.write(head)
        let count = try await stream(length, inPieces: inPieces)
        return !isLast && count == length ?? count
    }

    /// - Returns: The number of bytes of the body.
    private func stream(_ length: Int?, inPieces: Bool) async throws -> Int {
        var (bytes, isTold) = (0, length == 0)
        do {
            try await answer.send { piece in
                guard !piece.isEmpty else { return }
                if bytes + piece.count == length {
                    sent(bytes + piece.count)
                    isTold = true
                }
                try await socket.write(inPieces ? HTTPBody.piece(piece) : piece)
                bytes += piece.count
            }
        } catch {
            if !isTold { sent(bytes) }
            throw error
        }
        if !isTold { sent(bytes) }
        if inPieces { try await socket.write(HTTPBody.piece([])) }
        return bytes
    }

    private static func head(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> [UInt8] {
        var head = Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8)
        for field in fields {
            head += "\(field.name.rawName): ".utf8
            field.withUnsafeBytesOfValue { head += $0 }
            head += [13, 10]
        }
        return head + [13, 10]
    }
}
