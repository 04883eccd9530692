/// A parser of JSON (RFC 8259) for untrusted bytes.
struct JSONReader: ~Escapable {
    private let text: Span<UInt8>
    private var position = 0
    private static let deepest = 64

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    mutating func document() throws(PluginError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == text.count else { throw problem("unexpected bytes after the value") }
        return value
    }

    private func problem(_ what: String) -> PluginError {
        PluginError(.invalidArgument, "JSON: \(what) at byte \(position)")
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Skips a byte if it comes next, and tells whether it did.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        guard position + word.utf8CodeUnitCount <= text.count else { return false }
        for index in 0..<word.utf8CodeUnitCount where text[position + index] != word.utf8Start[index] { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    private mutating func value(depth: Int) throws(PluginError) -> JSON {
        guard depth < Self.deepest else { throw problem("nested too deep") }
        skipSpace()
        switch next ?? 0 {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            if take("true") { return .boolean(true) }
            if take("false") { return .boolean(false) }
            if take("null") { return .null }
            throw problem("a value is missing")
        }
    }

    private mutating func object(depth: Int) throws(PluginError) -> JSON {
        position += 1
        var members: [JSON.Member] = []
        // Texts would be equal that differ in Unicode's normalization form.
        var names: Set<[UInt8]> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw problem("a member's name is missing") }
            let name = try string()
            guard names.insert(Array(name.utf8)).inserted else { throw problem("a member's name comes twice") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw problem("a colon is missing") }
            members.append(JSON.Member(name: name, value: try value(depth: depth + 1)))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("a comma or closing brace is missing") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(PluginError) -> JSON {
        position += 1
        var values: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("a comma or closing bracket is missing") }
        return .array(values)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func number() throws(PluginError) -> JSON {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let leadingZero = next == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || (whole > 1 && !leadingZero) else { throw problem("not a number") }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw problem("a digit after the point is missing") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw problem("the exponent is missing") }
        }
        let written = copied(start..<position)
        if isInteger, let value = Int64(written) { return .integer(value) }
        guard let value = Double(written), value.isFinite else { throw problem("number too large") }
        return .number(value)
    }

    private func copied(_ range: Range<Int>) -> String {
        text.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func string() throws(PluginError) -> String {
        position += 1
        var bytes: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: bytes, as: UTF8.self) else { throw problem("not UTF-8") }
                return string
            case UInt8(ascii: "\\"): bytes += Array(try escaped().utf8)
            case 0..<0x20: throw problem("a control character in a string")
            default: bytes.append(byte)
            }
        }
        throw problem("a string without end")
    }

    private mutating func escaped() throws(PluginError) -> String {
        guard let byte = next else { throw problem("a string without end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var unit = try codeUnit()
            if (0xD800..<0xDC00).contains(unit), take("\\u") {
                let low = try codeUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw problem("half a surrogate pair") }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = UnicodeScalar(unit) else { throw problem("half a surrogate pair") }
            return String(scalar)
        default: throw problem("an unknown escape")
        }
    }

    private mutating func codeUnit() throws(PluginError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue, byte < 0x80 else {
                throw problem("fewer than four hexadecimal digits")
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
