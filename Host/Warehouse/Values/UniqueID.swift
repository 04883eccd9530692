/// The id of a project or a step: 16 random bytes, written as a UUID (RFC 9562) in upper case.
///
/// The type parameter `Subject` distinguishes the ids of projects from the ids of steps.
public struct UniqueID<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    static var byteCount: Int { 16 }

    /// Creates a random id (UUID version 4).
    public init() {
        var random = SystemRandomNumberGenerator()
        high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
        low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    }

    /// Creates an id from its text.
    /// - Parameter text: The UUID as `XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX`, in upper or lower case.
    /// - Returns: The id; nil if the text is not a UUID.
    public init?(_ text: String) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit }),
            let high = UInt64(groups[0...2].joined(), radix: 16), let low = UInt64(groups[3...4].joined(), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// Creates an id from its bytes.
    /// - Parameter bytes: A buffer of exactly 16 bytes.
    init(bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Writes the 16 bytes of the id.
    func store(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: high.bigEndian, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
    }

    public static func < (a: Self, b: Self) -> Bool { (a.high, a.low) < (b.high, b.low) }

    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for nibble in 0..<32 {
            if [8, 12, 16, 20].contains(nibble) { bytes.append(UInt8(ascii: "-")) }
            let value = (nibble < 16 ? high : low) >> UInt64((15 - nibble % 16) * 4) & 0xf
            bytes.append(UInt8(value < 10 ? 0x30 + value : 0x37 + value))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The id of a project, which is also the name of its folder.
public typealias ProjectID = UniqueID<ProjectSnapshot>

/// The id of a step within a project. The steps of a duplicated project keep the ids of the original's steps.
public typealias StepID = UniqueID<Step>
