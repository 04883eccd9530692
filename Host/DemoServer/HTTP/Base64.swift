/// The alphabet of RFC 4648, section 4.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value = 0
            for index in 0..<3 { value = value << 8 | (index < group.count ? Int(group[start + index]) : 0) }
            for index in 0..<4 {
                result.append(index <= group.count ? alphabet[value >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the bytes that a text stands for; nil if the text is malformed.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var result: [UInt8] = []
        var (value, bits) = (0, 0)
        var isOver = false
        for character in text.utf8 {
            if character == UInt8(ascii: "=") {
                isOver = true
                continue
            }
            guard !isOver, let digit = alphabet.firstIndex(of: character) else { return nil }
            (value, bits) = (value << 6 | digit, bits + 6)
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(value >> bits & 255))
                value &= 1 << bits - 1
            }
        }
        return text.utf8.count % 4 == 0 ? result : nil
    }
}
