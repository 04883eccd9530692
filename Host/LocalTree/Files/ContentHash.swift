import Digests
import Glibc

/// A kind of checksum that a server may send for a whole file. The raw values are the names in `OC-Checksum`.
public enum ChecksumAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha256 = "SHA256"
    case sha1 = "SHA1"
    case md5 = "MD5"
    case adler32 = "ADLER32"
}

/// Checksums of bytes, computed while the bytes stream in.
package struct ContentHash {
    private var sha256 = MessageDigest(.sha256)
    private var sha1: MessageDigest?
    private var md5: MessageDigest?
    private var adler32: Adler32?

    package init(also algorithms: [ChecksumAlgorithm] = []) {
        if algorithms.contains(.sha1) { sha1 = MessageDigest(.sha1) }
        if algorithms.contains(.md5) { md5 = MessageDigest(.md5) }
        if algorithms.contains(.adler32) { adler32 = Adler32() }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sha256.update(bytes)
        sha1?.update(bytes)
        md5?.update(bytes)
        adler32?.update(bytes)
    }

    /// The SHA-256, 32 bytes.
    package var digest: [UInt8] { sha256.value }

    /// The requested checksums beside SHA-256.
    var others: [ChecksumAlgorithm: [UInt8]] {
        var others: [ChecksumAlgorithm: [UInt8]] = [:]
        if let sha1 { others[.sha1] = sha1.value }
        if let md5 { others[.md5] = md5.value }
        if let adler32 { others[.adler32] = adler32.value }
        return others
    }
}

/// Reads a whole file from its beginning, one piece at a time.
/// - Parameters:
///   - size: The size in bytes that the file is expected to have. A small file takes little memory then.
///   - each: A function that receives each piece and returns false to stop.
/// - Returns: True at the end of the file; false if `each` stopped the reading; nil with `errno` if reading failed.
package func readAll(
    _ file: Int32, expecting size: Int = .max, _ each: (UnsafeRawBufferPointer) -> Bool
) -> Bool? {
    withUnsafeTemporaryAllocation(byteCount: min(1 << 18, max(size, 4_096)), alignment: 16) { piece in
        var offset: off_t = 0
        while true {
            let count = pread(file, piece.baseAddress, piece.count, offset)
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            if count == 0 { return true }
            guard each(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return false }
            offset += off_t(count)
        }
    }
}

/// Writes bytes to a file, at its offset.
/// - Returns: False, with `errno`, if not all of them could be written.
func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
