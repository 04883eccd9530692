package import HTTPTypes
package import Hummingbird

/// A request with its parsed target.
package struct Asked: Sendable {
    package let request: Request
    package var fields: HTTPFields
    package let target: Target
    /// The target without its query, as it was sent.
    package let path: Substring
    package let query: Substring?
    /// Scheme and host as the client uses them: `http://127.0.0.1:8000`.
    package let origin: String
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
        let read = Array(try await request.body.collect(upTo: 16 << 20).readableBytesView)
        body = read
        return read
    }
}
