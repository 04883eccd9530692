import Digests

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
struct Digest: Sendable {
    private var message: MessageDigest?
    private var adler32: Adler32?

    init(_ kind: Checksum.Kind) {
        switch kind {
        case .sha1: message = MessageDigest(.sha1)
        case .md5: message = MessageDigest(.md5)
        case .sha256: message = MessageDigest(.sha256)
        case .adler32: adler32 = Adler32()
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        message?.update(bytes)
        adler32?.update(bytes)
    }

    /// The checksum's bytes.
    var bytes: [UInt8] { message?.value ?? adler32?.value ?? [] }
}
