/// A checksum of a file's whole content, as servers of the ownCloud family send it in `OC-Checksum`.
public struct ContentChecksum: Sendable, Hashable {
    /// The algorithm of a checksum. The raw values are the names in `OC-Checksum`.
    public enum Algorithm: String, Sendable, Hashable {
        case sha256 = "SHA256"
        case sha1 = "SHA1"
        case md5 = "MD5"
        case adler32 = "ADLER32"

        /// The length of a value in bytes.
        var length: Int {
            switch self {
            case .sha256: 32
            case .sha1: 20
            case .md5: 16
            case .adler32: 4
            }
        }
    }

    /// The algorithm that computes the checksum.
    public var algorithm: Algorithm
    /// The bytes of the checksum.
    public var value: [UInt8]

    /// Creates a checksum from its bytes.
    public init(_ algorithm: Algorithm, _ value: [UInt8]) {
        self.algorithm = algorithm
        self.value = value
    }

    /// The checksum as it stands in a field: `SHA1:2fd4…`.
    var field: String { "\(algorithm.rawValue):" + value.map { String(hexadecimal: $0) }.joined() }

    /// Returns the checksums in a field value: `SHA1:2fd4… MD5:9e10…`. Leaves out parts with another algorithm and
    /// parts that are not hexadecimal.
    static func all(in field: String) -> [ContentChecksum] {
        field.split(whereSeparator: { $0 == " " || $0 == "," }).compactMap { part in
            guard let colon = part.firstIndex(of: ":") else { return nil }
            guard let algorithm = Algorithm(rawValue: part[..<colon].uppercased()),
                let value = [UInt8](hexadecimal: part[part.index(after: colon)...].utf8),
                value.count == algorithm.length
            else { return nil }
            return ContentChecksum(algorithm, value)
        }
    }
}

extension [UInt8] {
    /// Creates the bytes that hexadecimal digits stand for; nil if there are other characters or an odd number of
    /// digits.
    init?(hexadecimal digits: some Collection<UInt8>) {
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            if let first = high {
                append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
    }
}

extension UInt8 {
    /// The value of this ASCII digit in base 16; nil if the byte is not such a digit.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension String {
    /// Creates the two hexadecimal digits of a byte.
    fileprivate init(hexadecimal byte: UInt8) {
        let digits = Array("0123456789abcdef")
        self = String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}
