import Glibc
import NIOCore
import Threads

/// A file on the disk that is removed when nothing needs its bytes any more.
final class ScratchFile: Content.Place {
    let path: String

    /// Creates an empty file.
    /// - Parameter folder: The folder for the new file.
    /// - Throws: `ContentError` if the file cannot be created.
    init(in folder: String) throws {
        path = "\(folder)/larder-demo-\(UInt64.random(in: .min ... .max))"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ContentError(path: path, problem: String(cString: strerror(errno))) }
        close(file)
    }

    deinit { unlink(path) }

    /// Writes bytes at an offset, on a thread that may block.
    func write(_ buffer: ByteBuffer, at offset: Int) async throws {
        try await runBlocking { [path] in
            let file = open(path, O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { throw ContentError(path: path, problem: String(cString: strerror(errno))) }
            defer { close(file) }
            try buffer.withUnsafeReadableBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                    let count = pwrite(file, rest.baseAddress, rest.count, off_t(offset + done))
                    guard count > 0 else { throw ContentError(path: path, problem: String(cString: strerror(errno))) }
                    done += count
                }
            }
        }
    }

    /// Sends a range of the file, which is read on a thread that may block.
    func send(_ range: Range<Int>, to sink: Answer.Sink) async throws {
        var done = range.lowerBound
        while done < range.upperBound {
            let (from, length) = (done, min(range.upperBound - done, 256 << 10))
            let block = try await runBlocking { [path] in try Self.block(of: path, from: from, length: length) }
            try await sink(block)
            done += block.readableBytes
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

/// A file of a body's bytes that cannot be written or read.
struct ContentError: Error, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "\(path): \(problem)" }
}
