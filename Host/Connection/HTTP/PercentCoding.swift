import Model

/// Percent-encoding of paths (RFC 3986, section 2.1).
enum PercentCoding {
    /// Encodes a decoded path for a request: everything except unreserved characters and slashes.
    static func encoded(path: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.utf8.count + 16)
        append(path: path.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes a decoded path as ``encoded(path:)``, behind other bytes.
    static func append(path: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in path {
            if byte.isUnreserved || byte == UInt8(ascii: "/") { bytes.append(byte) } else { bytes.appendEncoded(byte) }
        }
    }

    /// Encodes a name as one segment of a path.
    static func encoded(name: String) -> String { encoded(bytes: name.utf8) }

    /// Encodes bytes, which need not be text, as a part of one segment of a path.
    static func encoded(bytes name: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        for byte in name { if byte.isUnreserved { bytes.append(byte) } else { bytes.appendEncoded(byte) } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes everything in an encoded text that may not stand in an address. Existing encodings stay.
    static func mended(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7f, !#""<>\^`{|}"#.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.appendEncoded(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces the run of slashes at the beginning of an encoded path by one slash, and encodes each `%` that does not
    /// begin an encoding. Further slashes stay, since a server may have names with empty parts.
    static func withoutTraps(_ path: String) -> String {
        var bytes: [UInt8] = []
        let text = Array(path.utf8)
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "/"), bytes.count == 1, bytes.last == byte { continue }
            bytes.append(byte)
            let follows = text[(index + 1)...].prefix(2)
            let isEncoding = follows.count == 2 && follows.allSatisfy { $0.hexadecimalValue != nil }
            if byte == UInt8(ascii: "%"), !isEncoding { bytes.append(contentsOf: "25".utf8) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns an href in the form in which people know the names: decoded, but for slashes in names, for bytes that are
    /// no text, and for characters that do not show or change the direction of what follows.
    /// - Parameter limit: the most bytes of the form. A longer one is cut between two characters, and ends with `…`.
    static func readable(_ href: some Collection<UInt8>, atMost limit: Int) -> String {
        // What is decoded has at least a third of the bytes.
        var rest = decodedNames(href.prefix(4 * limit + 64))[...]
        var text = ""
        while let first = rest.first {
            var length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
            let character = String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars.first
            if character == nil { length = 1 }
            // A slash in a name, which was not decoded.
            if rest.prefix(3).elementsEqual("%2F".utf8) || rest.prefix(3).elementsEqual("%2f".utf8) { length = 3 }
            let shown =
                character.flatMap { $0.isReadable ? String(decoding: rest.prefix(length), as: UTF8.self) : nil }
                ?? encoded(bytes: rest.prefix(length))
            guard text.utf8.count + shown.utf8.count <= limit else { return text + "…" }
            text += shown
            rest = rest.dropFirst(length)
        }
        return text
    }

    /// Undoes percent-encoding, but not that of a slash.
    private static func decodedNames(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            bytes.append(byte)
            let digits = rest.prefix(2).compactMap(\.hexadecimalValue)
            guard byte == UInt8(ascii: "%"), digits.count == 2 else { continue }
            let value = digits[0] << 4 | digits[1]
            guard value != UInt8(ascii: "/") else { continue }
            bytes[bytes.count - 1] = value
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// Returns a server's text in a form that can be printed on one line. Encodes everything except printable ASCII,
    /// and takes at most 1,000 bytes of the text.
    static func printable(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.beginning(ofBytes: 1_000).utf8 {
            if byte > 0x20, byte < 0x7f { bytes.append(byte) } else { bytes.appendEncoded(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte is a letter, a digit or one of `-._~`, which never need encoding.
    fileprivate var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether the character shows, or is a plain blank.
    fileprivate var isReadable: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        case .spaceSeparator: self == " "
        default: true
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendEncoded(_ byte: UInt8) {
        let digits: StaticString = "0123456789ABCDEF"
        append(UInt8(ascii: "%"))
        append(digits.utf8Start[Int(byte >> 4)])
        append(digits.utf8Start[Int(byte & 15)])
    }
}
