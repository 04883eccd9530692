import Crypto
package import NIOCore

/// A file's bytes.
package struct Content: Sendable {
    /// A storage of bytes outside of memory.
    package protocol Place: Sendable {
        /// Sends the bytes of a range, in blocks.
        func send(_ range: Range<Int>, to sink: Answer.Sink) async throws
    }

    package let size: Int
    /// The SHA-1 in hexadecimal, as in `oc:checksums` and `OC-Checksum`.
    package let sha1: String
    /// The bytes, if they are in memory.
    package let memory: ByteBuffer?
    private let place: any Place

    package static let none = Content([])

    package init(_ bytes: some Collection<UInt8>) {
        let buffer = ByteBuffer(bytes: bytes)
        (memory, place) = (buffer, Memory(buffer: buffer))
        size = bytes.count
        sha1 = hexadecimal(Insecure.SHA1.hash(data: Array(bytes)))
    }

    /// Creates content whose bytes are kept in a storage.
    package init(at place: some Place, size: Int, sha1: String) {
        (self.place, memory, self.size, self.sha1) = (place, nil, size, sha1)
    }

    package func send(_ range: Range<Int>, to sink: Answer.Sink) async throws {
        try await place.send(range, to: sink)
    }

    private struct Memory: Place {
        let buffer: ByteBuffer

        func send(_ range: Range<Int>, to sink: Answer.Sink) async throws {
            if let slice = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) {
                try await sink(slice)
            }
        }
    }
}
