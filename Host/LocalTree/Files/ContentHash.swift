import Crypto
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
    private var sha256 = SHA256()
    private var sha1: Insecure.SHA1?
    private var md5: Insecure.MD5?
    private var adler32: Adler32?

    package init(also algorithms: [ChecksumAlgorithm] = []) {
        if algorithms.contains(.sha1) { sha1 = Insecure.SHA1() }
        if algorithms.contains(.md5) { md5 = Insecure.MD5() }
        if algorithms.contains(.adler32) { adler32 = Adler32() }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sha256.update(bufferPointer: bytes)
        sha1?.update(bufferPointer: bytes)
        md5?.update(bufferPointer: bytes)
        adler32?.update(bytes)
    }

    /// The SHA-256, 32 bytes.
    package var digest: [UInt8] { Array(sha256.finalize()) }

    /// The requested checksums beside SHA-256.
    var others: [ChecksumAlgorithm: [UInt8]] {
        var others: [ChecksumAlgorithm: [UInt8]] = [:]
        if let sha1 { others[.sha1] = Array(sha1.finalize()) }
        if let md5 { others[.md5] = Array(md5.finalize()) }
        if let adler32 { others[.adler32] = adler32.value }
        return others
    }
}

/// An Adler-32 checksum (RFC 1950, section 8.2).
struct Adler32 {
    private var a: UInt32 = 1
    private var b: UInt32 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            // This number of bytes cannot overflow 32 bits before the remainder is taken.
            let end = min(start + 5552, bytes.count)
            for index in start..<end {
                a &+= UInt32(bytes[index])
                b &+= a
            }
            a %= 65_521
            b %= 65_521
            start = end
        }
    }

    var value: [UInt8] {
        withUnsafeBytes(of: (b << 16 | a).bigEndian) { Array($0) }
    }
}

/// Reads a whole file from its beginning, one piece at a time.
/// - Parameter each: A function that receives each piece and returns false to stop.
/// - Returns: True at the end of the file; false if `each` stopped the reading; nil with `errno` if reading failed.
package func readAll(_ file: Int32, _ each: (UnsafeRawBufferPointer) -> Bool) -> Bool? {
    withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 16) { piece in
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
