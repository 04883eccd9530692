/// A file's bytes.
package struct Content: Sendable {
    /// A storage of bytes outside of memory.
    package protocol Place: Sendable {
        /// Sends the bytes of a range, in blocks.
        func send(_ range: Range<Int>, to sink: Answer.Sink) async throws
    }

    package let size: Int
    /// The SHA-1 in hexadecimal, as in `oc:checksums` and `OC-Checksum`.
    package var sha1: String { checksums[0].value }
    /// The checksums that the server keeps: first the SHA-1, then one of the kind that the client gave.
    package let checksums: [Checksum]
    /// The checksums as in `oc:checksum`.
    var checksumText: String {
        checksums.count == 1 ? checksums[0].text : checksums.map(\.text).joined(separator: " ")
    }
    /// The bytes, if they are in memory.
    package let memory: [UInt8]?
    private let place: any Place

    package static let none = Content([])

    /// Creates content in memory.
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - kind: The kind of the checksum that is computed besides SHA-1; nil for none.
    package init(_ bytes: some Collection<UInt8>, _ kind: Checksum.Kind? = nil) {
        let bytes = Array(bytes)
        let checksums = Checksum.Kind.kept(with: kind).map { kind in
            var digest = Digest(kind)
            bytes.withUnsafeBytes { digest.update($0) }
            return Checksum(digest)
        }
        self.init(bytes, checksums)
    }

    /// Creates content in memory whose checksums are known.
    package init(_ bytes: [UInt8], _ checksums: [Checksum]) {
        (memory, place) = (bytes, Memory(bytes: bytes))
        (size, self.checksums) = (bytes.count, checksums)
    }

    /// Creates content whose bytes are kept in a storage.
    package init(at place: some Place, size: Int, _ checksums: [Checksum]) {
        (self.place, memory, self.size, self.checksums) = (place, nil, size, checksums)
    }

    package func send(_ range: Range<Int>, to sink: Answer.Sink) async throws {
        try await place.send(range, to: sink)
    }

    private struct Memory: Place {
        let bytes: [UInt8]

        func send(_ range: Range<Int>, to sink: Answer.Sink) async throws {
            if range.upperBound <= bytes.count { try await sink(Array(bytes[range])) }
        }
    }
}
