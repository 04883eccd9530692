/// A content line (RFC 5545, section 3.1): `DTSTART;TZID=Europe/Vienna:20260301T100000`.
///
/// ```swift
/// let object = "DTSTART;TZID=Europe/Vienna:20260301T100000\r\n"
/// var lines = ContentLines(object.utf8.span)
/// if let line = lines.next(), line.name == "DTSTART" {
///     host.log?.debug("\(line.value) in \(line.parameter("TZID") ?? "no time zone")")
/// }
/// ```
public struct ContentLine: Sendable {
    /// The property's name in capitals.
    public let name: String
    /// The parameters as in the line, from behind the first semicolon.
    private let parameters: ArraySlice<UInt8>
    private let rest: ArraySlice<UInt8>

    /// Splits an unfolded line into its parts. Nil if it is not a content line.
    init?(_ line: [UInt8]) {
        guard let nameEnd = line.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }), nameEnd > 0,
            line[..<nameEnd].allSatisfy(\.isNameCharacter)
        else { return nil }
        var isQuoted = false
        let colon = line[nameEnd...].firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ":") && !isQuoted
        }
        guard let colon else { return nil }
        name = String(decoding: line[..<nameEnd].map(\.capital), as: UTF8.self)
        parameters = line[min(nameEnd + 1, colon)..<colon]
        rest = line[(colon + 1)...]
    }

    /// The text after the colon. Bytes that are not UTF-8 are replaced with U+FFFD.
    public var value: String { String(decoding: rest, as: UTF8.self) }

    /// The value of a property of the type TEXT, without its escapes (RFC 5545, section 3.3.11).
    public var text: String {
        var unescaped: [UInt8] = []
        unescaped.reserveCapacity(rest.count)
        var isEscaped = false
        for byte in rest {
            if isEscaped {
                isEscaped = false
                unescaped.append(byte == UInt8(ascii: "n") || byte == UInt8(ascii: "N") ? UInt8(ascii: "\n") : byte)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                unescaped.append(byte)
            }
        }
        return String(decoding: unescaped, as: UTF8.self)
    }

    /// Returns the first value of a parameter without its quotes, or nil if there is none.
    /// - Parameter name: The parameter's name in capitals.
    public func parameter(_ name: StaticString) -> String? {
        var isQuoted = false
        let parts = parameters.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }
        for part in parts {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                name.withUTF8Buffer({ part[..<equals].lazy.map(\.capital).elementsEqual($0) })
            else { continue }
            let values = part[(equals + 1)...]
            if values.first == UInt8(ascii: "\"") {
                return String(decoding: values.dropFirst().prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
            }
            return String(decoding: values.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var capital: UInt8 { (0x61...0x7A).contains(self) ? self - 0x20 : self }

    fileprivate var isNameCharacter: Bool {
        switch capital {
        case 0x41...0x5A, 0x30...0x39, UInt8(ascii: "-"): true
        default: false
        }
    }
}
