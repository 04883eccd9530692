import Crypto
import NIOCore

/// A checksum that a client gives for a body: `SHA1:` and hexadecimal digits, as in `OC-Checksum`.
package struct Checksum: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case md5 = "MD5"
        case adler32 = "ADLER32"
        case sha256 = "SHA256"
    }

    package let kind: Kind
    /// The value in hexadecimal, in lower case.
    package let value: String

    package init(_ kind: Kind, _ value: String) { (self.kind, self.value) = (kind, value.lowercased()) }

    /// Reads a checksum; nil if its kind is unknown.
    /// - Parameters:
    ///   - text: The checksum's text.
    ///   - separator: The character between kind and value.
    init?(_ text: String, separator: Character = ":") {
        let parts = text.split(separator: separator, maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: parts[0].uppercased()) else { return nil }
        self.init(kind, String(parts[1]))
    }

    package var text: String { "\(kind.rawValue):\(value)" }
}

/// The computation of a checksum.
enum Digest: Sendable {
    case sha1(Insecure.SHA1)
    case md5(Insecure.MD5)
    case adler32(Adler32)
    case sha256(SHA256)

    init(_ kind: Checksum.Kind) {
        self =
            switch kind {
            case .sha1: .sha1(.init())
            case .md5: .md5(.init())
            case .adler32: .adler32(.init())
            case .sha256: .sha256(.init())
            }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .sha1(var hash):
            hash.update(bufferPointer: bytes)
            self = .sha1(hash)
        case .md5(var hash):
            hash.update(bufferPointer: bytes)
            self = .md5(hash)
        case .adler32(var sum):
            sum.update(bytes)
            self = .adler32(sum)
        case .sha256(var hash):
            hash.update(bufferPointer: bytes)
            self = .sha256(hash)
        }
    }

    /// The checksum's bytes.
    var bytes: [UInt8] {
        switch self {
        case .sha1(let hash): Array(hash.finalize())
        case .md5(let hash): Array(hash.finalize())
        case .adler32(let sum): sum.bytes
        case .sha256(let hash): Array(hash.finalize())
        }
    }
}

/// The checksum of RFC 1950, section 8.2.
struct Adler32: Sendable {
    private var low: UInt32 = 1
    private var high: UInt32 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // So many additions fit into 32 bits.
            for byte in rest.prefix(5_552) {
                low += UInt32(byte)
                high += low
            }
            (low, high) = (low % 65_521, high % 65_521)
            rest = rest.dropFirst(5_552)
        }
    }

    var bytes: [UInt8] { [UInt8(high >> 8), UInt8(high & 255), UInt8(low >> 8), UInt8(low & 255)] }
}
