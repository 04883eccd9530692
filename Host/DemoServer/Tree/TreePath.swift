/// A path in the served tree. Its names are bytes, since two names that Swift calls equal may be two files to a server.
package struct TreePath: Hashable, Sendable {
    package var names: [[UInt8]]

    package static let root = TreePath(names: [])

    package init(names: [[UInt8]]) { self.names = names }

    /// Creates a path from a text like `/a/b`, with or without the first and a last slash.
    package init(_ text: String) { names = text.utf8.split(separator: UInt8(ascii: "/")).map(Array.init) }

    /// Reads the percent-encoded path of a request's target; nil if a name is `.` or `..`, if a name contains a slash
    /// or NUL, or if an escape is malformed.
    init?(encoded: Substring.UTF8View) {
        names = []
        for part in encoded.split(separator: UInt8(ascii: "/")) {
            guard let name = Self.decoded(part), name != [0x2e], name != [0x2e, 0x2e], !name.contains(0x2f),
                !name.contains(0)
            else { return nil }
            names.append(name)
        }
    }

    package var text: String { "/" + names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") }

    /// The path as it stands in a URL: every byte except the unreserved ones of RFC 3986, section 2.3, is
    /// percent-encoded.
    package var encoded: String { names.map { "/" + Self.encoded($0) }.joined() }

    package func contains(_ other: TreePath) -> Bool { other.names.starts(with: names) }

    static func encoded(_ name: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(name.count)
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default:
                result += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes a percent-encoded name.
    /// - Returns: The bytes of the name; nil if an escape is malformed.
    package static func decoded(_ part: Substring.UTF8View) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            result.append(value)
        }
        return result
    }
}

func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
