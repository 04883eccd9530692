import HTTP
package import HTTPTypes

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

    /// A body that is read as a whole is longer than a server keeps in memory.
    struct TooLong: Error {}

    package let method: String
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
    private let reader: HTTPReader

    /// - Parameters:
    ///   - head: The request's head, whose first line has three words.
    ///   - reader: Reads the body.
    init(_ head: HTTPHead, _ reader: HTTPReader, site: Site) {
        self.reader = reader
        method = String(head.words[0])
        fields = HTTPFields()
        for (name, value) in head.fields { fields[named: name] = value }
        (path, query) = Target.parts(of: String(head.words[1]))
        target = Target(path, bases: site.bases)
        origin = "\(site.scheme)://\(head.fields["host"] ?? "127.0.0.1")"
    }

    /// The item's path in the tree; for other targets the target's path.
    package var item: String {
        if case .item(let item, _) = target { item.text } else { String(path) }
    }

    /// Returns the body, and reads it if it was not read yet.
    package mutating func collect() async throws -> [UInt8] {
        if let body { return body }
        var read: [UInt8] = []
        // A document is no file: its bytes are not told.
        var asked = self
        if pause == nil { asked.noteReading = nil }
        try await asked.receive { piece in
            read += piece
            if read.count > 16 << 20 { throw TooLong() }
        }
        body = read
        return read
    }

    /// Reads the body in the pieces in which it arrives.
    package func receive(_ take: ([UInt8]) async throws -> Void) async throws {
        var (count, pause) = (0, pause)
        while var piece = try await reader.next() {
            if let stop = pause, count + piece.count >= stop.bytes {
                let first = Array(piece.prefix(max(0, stop.bytes - count)))
                piece.removeFirst(first.count)
                count += first.count
                if !first.isEmpty {
                    noteReading?(first.count)
                    try await take(first)
                }
                pause = nil
                try await stop.body()
            }
            count += piece.count
            noteReading?(piece.count)
            if !piece.isEmpty { try await take(piece) }
        }
        try await pause?.body()
    }

    /// The body's length as the request announces it.
    var length: Int? { fields[.contentLength].flatMap { Int($0) } }
}
