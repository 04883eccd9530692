/// A digest of texts, in the order in which they were added: FNV-1a with 128 bits (RFC 9923). It tells one listing from another, and
/// guards against nobody.
public struct Digest: Hashable, Sendable {
    private var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    public init() {}

    /// Adds a text and where it ends: `ab` and `c` is not `a` and `bc`.
    public mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
        add(0xFF)
    }

    private mutating func add(_ byte: UInt8) {
        hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }

    /// 32 hexadecimal digits.
    public var text: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }
}
