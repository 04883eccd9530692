import Model
import Synchronization
import Transfer

@testable import Connection

/// A file in memory to upload. It may become shorter, grow or fail after a number of bytes were read.
final class MemorySource: UploadSource {
    enum Change: Sendable { case none, shorter, longer, failing, changed }

    let size: Int64
    private let bytes: [UInt8]
    private let change: Change
    /// The number of bytes after which the change shows.
    private let after: Int64
    private let state = Mutex((read: Int64(0), under: 0))

    init(_ bytes: [UInt8], _ change: Change = .none, after: Int64 = 0) {
        (self.bytes, size, self.change, self.after) = (bytes, Int64(bytes.count), change, after)
    }

    convenience init(_ text: String) { self.init(Array(text.utf8)) }

    /// The number of bytes that were read.
    var read: Int64 { state.withLock { $0.read } }
    /// The number of reads under way.
    var readsUnderWay: Int { state.withLock { $0.under } }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        state.withLock { $0.under += 1 }
        defer { state.withLock { $0.under -= 1 } }
        if change == .failing, offset >= after { throw Failure(.localIO, "the disk is broken") }
        let end = change == .shorter ? after : size + (change == .longer ? 1 : 0)
        let count = Int(max(0, min(Int64(buffer.count), end - offset)))
        let own = Int(max(0, min(Int64(count), size - offset)))
        if own > 0 { buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + own]) }
        for index in own..<count { buffer[index] = 0 }
        state.withLock { $0.read += Int64(count) }
        return count
    }

    func check() throws {
        if change == .changed { throw Failure(.failed, "the file has changed while it was uploaded") }
        var more: UInt8 = 0
        let count = try withUnsafeMutableBytes(of: &more) { try read(at: size, into: $0) }
        if count > 0 { throw Failure(.failed, "the file has grown while it was uploaded") }
    }
}

extension UploadBody {
    /// Reads the whole file, as a transport that sends it does.
    func all() throws(TransportError) -> [UInt8] {
        var bytes: [UInt8] = []
        progress(0)
        while Int64(bytes.count) < size {
            bytes += try piece(at: Int64(bytes.count))
            progress(Int64(bytes.count))
        }
        return bytes
    }
}
