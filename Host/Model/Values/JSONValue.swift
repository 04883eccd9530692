/// A JSON value (RFC 8259). The members of an object keep their order.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The error of a text that is not JSON.
    public struct ParsingError: Error, Hashable {
        /// The description of the error.
        public var message: String
        /// The position, in bytes from the start of the text.
        public var offset: Int
    }

    /// Parses a text that is nested at most 64 levels deep.
    /// - Throws: ``ParsingError`` if the text is not JSON, is nested deeper, or has an object with two members of one
    ///   name, which readers understand differently (RFC 8259, section 4).
    public init(parsing text: String) throws(ParsingError) {
        var parser = JSONParser(bytes: Array(text.utf8))
        self = try parser.document()
    }

    /// The value of an object's member, or nil if there is no such member or the value is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        // Names are compared by their bytes; equal texts may have others.
        for member in members where member.name == name && member.name.utf8.elementsEqual(name.utf8) {
            return member.value
        }
        return nil
    }
}

private struct JSONParser {
    /// The greatest nesting depth. No settings are nested this deep.
    private static let deepest = 64
    private static let fewMembers = 16
    let bytes: [UInt8]
    var position = 0

    mutating func document() throws(JSONValue.ParsingError) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("there is more after the value") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONValue.ParsingError) -> JSONValue {
        guard depth < Self.deepest else { throw error("too deep") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONValue.ParsingError) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        // Texts would be equal that differ in Unicode's normalization form. The names of a small object are compared with
        // one another.
        var names: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a name in quotes is missing") }
            let name = try string()
            if members.count == Self.fewMembers { names = Set(members.map { Array($0.name.utf8) }) }
            let isNew =
                members.count < Self.fewMembers
                ? !members.contains { $0.name.utf8.elementsEqual(name.utf8) } : names.insert(Array(name.utf8)).inserted
            guard isNew else { throw error("`\(name)` is given a second time") }
            skipSpace()
            guard take(":") else { throw error("`:` is missing") }
            members.append(.init(name: name, value: try value(depth: depth + 1)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw error("`}` is missing") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONValue.ParsingError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw error("`]` is missing") }
        return .array(values)
    }

    private mutating func string() throws(JSONValue.ParsingError) -> String {
        position += 1
        var text: ArraySlice<UInt8> = []
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else {
                position += 1
                throw error("a control character in a string")
            }
            if byte == UInt8(ascii: "\\") {
                position += 1
                text += Array(try escape().utf8)
            } else {
                // What is no escape is taken as a whole.
                let start = position
                while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                    position += 1
                }
                if text.isEmpty { text = bytes[start..<position] } else { text += bytes[start..<position] }
            }
        }
        guard take("\"") else { throw error("a string does not end") }
        guard let valid = String(validating: text, as: UTF8.self) else { throw error("a string is not UTF-8") }
        return valid
    }

    private mutating func escape() throws(JSONValue.ParsingError) -> String {
        let plain: [UInt8: String] = [
            0x22: "\"", 0x5c: "\\", 0x2f: "/", 0x62: "\u{8}", 0x66: "\u{c}", 0x6e: "\n", 0x72: "\r", 0x74: "\t",
        ]
        guard let byte = peek else { throw error("a string does not end") }
        position += 1
        if let text = plain[byte] { return text }
        guard byte == UInt8(ascii: "u") else { throw error("no such escape") }
        var units = [try hexUnit()]
        if UTF16.isLeadSurrogate(units[0]) {
            guard take("\\"), take("u") else { throw error("half a surrogate pair") }
            units.append(try hexUnit())
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw error("half a surrogate pair") }
        return text
    }

    private mutating func hexUnit() throws(JSONValue.ParsingError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        // Swift's parser would accept a sign.
        guard digits.count == 4, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits are missing") }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONValue.ParsingError) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        let endOfWhole = position
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("-") { _ = take("+") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if position == endOfWhole, let whole = Int64(text) { return .integer(whole) }
        guard let value = Double(text), value.isFinite else { throw error("too large a number") }
        return .number(value)
    }

    private mutating func digits() throws(JSONValue.ParsingError) {
        guard let first = peek, (0x30...0x39).contains(first) else {
            throw error("a digit or another value is missing")
        }
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONValue.ParsingError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw error("no such word") }
        position += word.utf8.count
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    private func error(_ message: String) -> JSONValue.ParsingError { .init(message: message, offset: position) }
}
