package import HTTPTypes
package import Hummingbird
package import NIOCore

/// A request with its parsed target.
package struct Asked: Sendable {
    /// The place in the body at which its reading stops until `body` returns, or ends with what `body` throws.
    package struct Pause: Sendable {
        package let bytes: Int
        package let body: @Sendable () async throws -> Void

        package init(after bytes: Int, _ body: @escaping @Sendable () async throws -> Void) {
            (self.bytes, self.body) = (bytes, body)
        }
    }

    package let request: Request
    package var fields: HTTPFields
    package let target: Target
    /// The target without its query, as it was sent.
    package let path: Substring
    package let query: Substring?
    /// Scheme and host as the client uses them: `http://127.0.0.1:8000`.
    package let origin: String
    /// The pause in reading the body; nil for none.
    package var pause: Pause?
    /// A function that is told the length of each piece of the body as it is read; nil for none.
    package var noteReading: (@Sendable (Int) -> Void)?
    /// The body; nil unless it was read.
    package private(set) var body: [UInt8]?

    init(_ request: Request, site: Site) {
        (self.request, fields) = (request, request.headers)
        (path, query) = Target.parts(of: request.head.path ?? "/")
        target = Target(path, bases: site.bases)
        origin = "\(site.scheme)://\(request.head.authority ?? "127.0.0.1")"
    }

    package var method: String { request.method.rawValue }

    /// The item's path in the tree; for other targets the target's path.
    package var item: String {
        if case .item(let item, _) = target { item.text } else { String(path) }
    }

    /// Returns the body, and reads it if it was not read yet.
    package mutating func collect() async throws -> [UInt8] {
        if let body { return body }
        var read: [UInt8] = []
        if pause == nil {
            read = Array(try await request.body.collect(upTo: 16 << 20).readableBytesView)
        } else {
            try await receive { read += $0.readableBytesView }
        }
        body = read
        return read
    }

    /// Reads the body in the pieces in which it arrives.
    package func receive(_ take: (ByteBuffer) async throws -> Void) async throws {
        var (count, pause) = (0, pause)
        for try await var chunk in request.body {
            if let stop = pause, count + chunk.readableBytes >= stop.bytes {
                if let first = chunk.readSlice(length: max(0, stop.bytes - count)), first.readableBytes > 0 {
                    count += first.readableBytes
                    noteReading?(first.readableBytes)
                    try await take(first)
                }
                pause = nil
                try await stop.body()
            }
            count += chunk.readableBytes
            noteReading?(chunk.readableBytes)
            if chunk.readableBytes > 0 { try await take(chunk) }
        }
        try await pause?.body()
    }

    /// The body's length as the request announces it.
    var length: Int? { fields[.contentLength].flatMap { Int($0) } }
}
