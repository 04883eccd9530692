import Glibc

/// An IPv4 or IPv6 address as bytes.
struct NetworkAddress: Hashable {
    let bytes: [UInt8]

    /// Reads an address without brackets; nil if the text is a name.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var (four, six) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 16))
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = four
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = six
        } else {
            return nil
        }
    }

    /// Tells whether the first bits are those of another address.
    func has(_ bits: Int, of other: NetworkAddress) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(bits) else { return false }
        let (whole, rest) = (bits / 8, bits % 8)
        guard bytes.prefix(whole).elementsEqual(other.bytes.prefix(whole)) else { return false }
        return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0
    }

    /// Splits `HOST:PORT`, where an IPv6 address with a port stands in brackets. The host is without them; the port is
    /// nil if there is none.
    static func parts(_ text: Substring) -> (host: String, port: Substring?) {
        if text.first == "[", let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            let host = String(text[text.index(after: text.startIndex)..<end])
            return (host, rest.first == ":" ? rest.dropFirst() : rest.isEmpty ? nil : rest)
        }
        guard let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon else { return (String(text), nil) }
        return (String(text[..<colon]), text[text.index(after: colon)...])
    }
}
