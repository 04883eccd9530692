/// A digest of texts in the order in which they were added: FNV-1a with 128 bits (RFC 9923). It tells whether a listing
/// changed. It does not protect against an attacker.
///
/// ```swift
/// var digest = Digest()
/// for key in ["/a.ics", "/b.ics"] { digest.add(key) }
/// let eventID = digest.text
/// ```
public struct Digest: Hashable, Sendable {
    private var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    /// Creates a digest of no texts.
    public init() {}

    /// Adds a text and its end, so that `ab` and `c` give another digest than `a` and `bc`.
    public mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
        add(0xFF)
    }

    private mutating func add(_ byte: UInt8) {
        hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }

    /// The digest as 32 hexadecimal digits.
    public var text: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }
}
