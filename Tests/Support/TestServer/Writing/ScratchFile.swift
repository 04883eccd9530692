import DemoServer
import Glibc
import NIOCore
import Threads

/// A file on the disk that is removed when nothing needs its bytes any more.
final class ScratchFile: Content.Place {
    let path: String

    /// - Parameter folder: the folder for the new file.
    init(in folder: String) { path = "\(folder)/larder-demo-\(UInt64.random(in: .min ... .max))" }

    deinit { unlink(path) }

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

struct ContentError: Error, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "\(path): \(problem)" }
}
