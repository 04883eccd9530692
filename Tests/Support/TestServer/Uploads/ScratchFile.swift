import DemoServer
import Glibc
import Threads

/// A file on the disk without a name. Its room is free again when nothing needs its bytes any more, or when the process
/// ends, however it ends.
///
/// All work on the file is left to threads that may block: the threads that answer requests serve every server of the
/// process.
final class ScratchFile: Content.Place {
    /// The folder in which the file was made.
    private let folder: String
    private let file: Int32

    /// Creates an empty file.
    /// - Parameter folder: The folder whose file system has the file.
    /// - Throws: `ContentError` if the file cannot be created.
    init(in folder: String) async throws {
        self.folder = folder
        file = try await runBlocking {
            let path = "\(folder)/larder-demo-\(UInt64.random(in: .min ... .max))"
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw ContentError(in: folder, code: errno) }
            unlink(path)
            return file
        }
    }

    // The system frees the bytes now, which takes its time.
    deinit { runBlockingLater { [file] in close(file) } }

    /// Writes bytes at an offset, on a thread that may block.
    func write(_ bytes: [UInt8], at offset: Int) async throws {
        try await runBlocking { [self] in
            try bytes.withUnsafeBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                    let count = pwrite(file, rest.baseAddress, rest.count, off_t(offset + done))
                    guard count > 0 else { throw ContentError(in: folder, code: errno) }
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
            let block = try await runBlocking { [self] in try read(from, length) }
            try await sink(block)
            done += block.count
        }
    }

    private func read(_ from: Int, _ length: Int) throws -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { memory, count in
            count = max(0, pread(file, memory.baseAddress, length, off_t(from)))
        }
        guard !bytes.isEmpty else { throw ContentError(in: folder, code: EIO) }
        return bytes
    }
}

/// A failure to write or read the bytes of a body.
struct ContentError: Error, CustomStringConvertible {
    /// The folder for the bodies.
    let folder: String
    /// The error code, as in `errno`.
    let code: Int32

    init(in folder: String, code: Int32) { (self.folder, self.code) = (folder, code) }

    var description: String { "\(folder): \(String(cString: strerror(code)))" }
}
