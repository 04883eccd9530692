import Crypto
import Glibc
import NIOCore
import Threads

/// A file's bytes: in memory, or in a file of the server's own.
struct Content: Sendable {
    enum Place: Sendable {
        case memory(ByteBuffer)
        case file(ScratchFile)
    }

    let place: Place
    let size: Int
    /// SHA-1 in hexadecimal, as `oc:checksums` and `OC-Checksum` carry it.
    let sha1: String

    static let none = Content([])

    init(_ bytes: some Collection<UInt8>) {
        place = .memory(ByteBuffer(bytes: bytes))
        size = bytes.count
        sha1 = hexadecimal(Insecure.SHA1.hash(data: Array(bytes)))
    }

    /// Bytes that streamed into a file of the server's own.
    init(file: ScratchFile, size: Int, sha1: String) {
        (self.place, self.size, self.sha1) = (.file(file), size, sha1)
    }

    /// Hands the bytes of a range over, in blocks. Reads files on a thread that may block.
    func send(_ range: Range<Int>, to sink: (ByteBuffer) async throws -> Void) async throws {
        switch place {
        case .memory(let buffer):
            if let slice = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) {
                try await sink(slice)
            }
        case .file(let file):
            var done = range.lowerBound
            while done < range.upperBound {
                let (from, length) = (done, min(range.upperBound - done, 256 << 10))
                let block = try await runBlocking {
                    try Self.block(of: file.path, from: from, length: length)
                }
                try await sink(block)
                done += block.readableBytes
            }
        }
    }

    private static func block(of path: String, from: Int, length: Int) throws -> ByteBuffer {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ContentError(path: path, problem: String(cString: strerror(errno))) }
        defer { close(file) }
        var result = ByteBuffer()
        let count = result.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { memory in
            max(0, pread(file, memory.baseAddress, length, off_t(from)))
        }
        guard count > 0 else { throw ContentError(path: path, problem: "is shorter than it was, or cannot be read") }
        return result
    }
}

/// A file on the disk that goes when nothing needs its bytes any more.
final class ScratchFile: Sendable {
    let path: String

    /// - Parameter folder: where a new file may be made.
    init(in folder: String) { path = "\(folder)/larder-demo-\(UInt64.random(in: .min ... .max))" }

    deinit { unlink(path) }
}

struct ContentError: Error, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "\(path): \(problem)" }
}
