import Digests

/// A checksum that a client gives for a body: `SHA1:` and hexadecimal digits, as in `OC-Checksum`.
package struct Checksum: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case md5 = "MD5"
        case adler32 = "ADLER32"
        case sha256 = "SHA256"

        /// Returns the kinds of the checksums that the server keeps of content: SHA-1, and the kind that the client gave.
        package static func kept(with given: Kind?) -> [Kind] {
            given.map { $0 == .sha1 ? [$0] : [.sha1, $0] } ?? [.sha1]
        }
    }

    package let kind: Kind
    /// The value in hexadecimal, in lower case.
    package let value: String

    package init(_ kind: Kind, _ value: String) { (self.kind, self.value) = (kind, value.lowercased()) }

    /// Creates the checksum that was computed of bytes.
    package init(_ digest: Digest) { self.init(digest.kind, hexadecimal(digest.bytes)) }

    /// Reads a checksum; nil if its kind is unknown.
    /// - Parameters:
    ///   - text: The checksum's text.
    ///   - separator: The character between kind and value.
    package init?(_ text: String, separator: Character = ":") {
        let parts = text.split(separator: separator, maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: parts[0].uppercased()) else { return nil }
        self.init(kind, String(parts[1]))
    }

    package var text: String { "\(kind.rawValue):\(value)" }
}

/// The computation of a checksum.
package struct Digest: Sendable {
    let kind: Checksum.Kind
    private var message: MessageDigest?
    private var adler32: Adler32?

    package init(_ kind: Checksum.Kind) {
        self.kind = kind
        switch kind {
        case .sha1: message = MessageDigest(.sha1)
        case .md5: message = MessageDigest(.md5)
        case .sha256: message = MessageDigest(.sha256)
        case .adler32: adler32 = Adler32()
        }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        message?.update(bytes)
        adler32?.update(bytes)
    }

    /// The checksum's bytes.
    package var bytes: [UInt8] { message?.value ?? adler32?.value ?? [] }
}
