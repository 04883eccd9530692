import Crypto
import DemoServer
import Glibc
import Hummingbird
import NIOCore
import Threads

/// The receiver of a PUT's body, which goes into memory or into a file of the server's own.
struct Upload: Sendable {
    /// The size in bytes up to which a body stays in memory.
    static let inMemory = 1 << 20

    /// The folder for larger bodies.
    let folder: String

    func receive(_ body: RequestBody) async throws -> Content {
        var buffer = ByteBuffer()
        var digest = Insecure.SHA1()
        var file: (descriptor: Int32, scratch: ScratchFile)?
        var size = 0
        defer { if let file { close(file.descriptor) } }
        for try await chunk in body {
            digest.update(data: Array(chunk.readableBytesView))
            size += chunk.readableBytes
            buffer.writeImmutableBuffer(chunk)
            guard buffer.readableBytes > Self.inMemory else { continue }
            let target = try file ?? newFile()
            file = target
            try await write(buffer, to: target)
            buffer.clear()
        }
        guard let file else { return Content(Array(buffer.readableBytesView)) }
        try await write(buffer, to: file)
        return Content(at: file.scratch, size: size, sha1: hexadecimal(digest.finalize()))
    }

    private func newFile() throws -> (Int32, ScratchFile) {
        let scratch = ScratchFile(in: folder)
        let descriptor = open(scratch.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ContentError(path: scratch.path, problem: String(cString: strerror(errno))) }
        return (descriptor, scratch)
    }

    private func write(_ buffer: ByteBuffer, to file: (descriptor: Int32, scratch: ScratchFile)) async throws {
        let (descriptor, path) = (file.descriptor, file.scratch.path)
        try await runBlocking {
            try buffer.withUnsafeReadableBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                    guard count > 0 else { throw ContentError(path: path, problem: String(cString: strerror(errno))) }
                    done += count
                }
            }
        }
    }
}
