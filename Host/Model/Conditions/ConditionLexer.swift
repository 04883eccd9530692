/// A piece of a condition's text.
enum ConditionToken: Equatable {
    case name(String)
    /// A number without its sign.
    case number(UInt64)
    case text(Condition.Text)
    case sign(Sign)
    case end

    enum Sign: String, CaseIterable {
        // Longer signs come first, so that `<=` is not read as `<`.
        case or = "||"
        case and = "&&"
        case equal = "=="
        case unequal = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case less = "<"
        case greater = ">"
        case not = "!"
        case open = "("
        case close = ")"
        case openList = "["
        case closeList = "]"
        case comma = ","
        case dot = "."
        case plus = "+"
        case minus = "-"
    }

    /// The token as error messages name it.
    var shown: String {
        switch self {
        case .name(let name): "'\(name)'"
        case .number(let number): "'\(number)'"
        case .text: "a text"
        case .sign(let sign): "'\(sign.rawValue)'"
        case .end: "the end"
        }
    }
}

/// Splits a condition's text into tokens.
struct ConditionLexer {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the next token and its offset.
    mutating func next() throws(ConditionFault) -> (token: ConditionToken, offset: Int) {
        while let byte = peek, byte == 0x20 || (0x09...0x0d).contains(byte), byte != 0x0b { position += 1 }
        let start = position
        guard let first = peek else { return (.end, start) }
        if Self.isQuote(first) { return (.text(try literal(isRaw: false)), start) }
        if Self.isDigit(first) { return (.number(try number()), start) }
        if Self.isLetter(first) {
            if first | 0x20 == UInt8(ascii: "r"), position + 1 < bytes.count, Self.isQuote(bytes[position + 1]) {
                position += 1
                return (.text(try literal(isRaw: true)), start)
            }
            while let byte = peek, Self.isLetter(byte) || Self.isDigit(byte) { position += 1 }
            return (.name(String(decoding: bytes[start..<position], as: UTF8.self)), start)
        }
        for sign in ConditionToken.Sign.allCases where bytes[position...].starts(with: sign.rawValue.utf8) {
            position += sign.rawValue.utf8.count
            return (.sign(sign), start)
        }
        throw unreadable(at: start)
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private func unreadable(at start: Int) -> ConditionFault {
        let rest = String(decoding: bytes[start...].prefix(64), as: UTF8.self)
        let hint: String? =
            switch bytes[start] {
            case UInt8(ascii: "="): "write == to compare"
            case UInt8(ascii: "&"): "write && for and"
            case UInt8(ascii: "|"): "write || for or"
            default: nil
            }
        return ConditionFault(.syntax, at: start, "'\(rest.prefix(1))' has no meaning here", hint: hint)
    }

    private mutating func number() throws(ConditionFault) -> UInt64 {
        let start = position
        while let byte = peek, Self.isDigit(byte) { position += 1 }
        if let byte = peek, Self.isLetter(byte) || byte == UInt8(ascii: ".") {
            throw ConditionFault(.syntax, at: start, "only whole decimal numbers can be written")
        }
        guard let number = UInt64(String(decoding: bytes[start..<position], as: UTF8.self)), number <= 1 << 63 else {
            throw ConditionFault(.syntax, at: start, "the number does not fit into 64 bits")
        }
        return number
    }

    /// Reads a literal with its quotes. In a raw literal a backslash is a backslash.
    private mutating func literal(isRaw: Bool) throws(ConditionFault) -> Condition.Text {
        let start = position
        let quote = bytes[position]
        var content: [UInt8] = []
        position += 1
        while let byte = peek, byte != quote {
            if byte == 0x0a || byte == 0x0d {
                throw ConditionFault(
                    .syntax, at: position, "a text must end on its line", hint: "write a line break as \\n")
            }
            position += 1
            if byte == UInt8(ascii: "\\"), !isRaw {
                content += UTF8.encode(try escape())?.map { $0 } ?? []
            } else {
                content.append(byte)
            }
        }
        guard peek == quote else {
            throw ConditionFault(.syntax, at: start, "the text has no closing \(Character(Unicode.Scalar(quote)))")
        }
        position += 1
        return Condition.Text(String(decoding: content, as: UTF8.self))
    }

    /// Reads the escape after a backslash and returns its character.
    private mutating func escape() throws(ConditionFault) -> Unicode.Scalar {
        let start = position - 1
        guard let byte = peek else { throw ConditionFault(.syntax, at: start, "the text ends within an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "a"): return "\u{07}"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "v"): return "\u{0b}"
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "?"):
            return Unicode.Scalar(byte)
        case UInt8(ascii: "x"), UInt8(ascii: "X"): return try scalar(digits: 2, radix: 16, start: start)
        case UInt8(ascii: "u"): return try scalar(digits: 4, radix: 16, start: start)
        case UInt8(ascii: "U"): return try scalar(digits: 8, radix: 16, start: start)
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            position -= 1
            return try scalar(digits: 3, radix: 8, start: start)
        default:
            throw ConditionFault(
                .syntax, at: start, "the text has an unknown escape", hint: "write a backslash as \\\\")
        }
    }

    private mutating func scalar(digits: Int, radix: Int, start: Int) throws(ConditionFault) -> Unicode.Scalar {
        let taken = bytes[position...].prefix(digits)
        guard taken.count == digits, taken.first != UInt8(ascii: "+"), taken.first != UInt8(ascii: "-"),
            let value = UInt32(String(decoding: taken, as: UTF8.self), radix: radix), let scalar = Unicode.Scalar(value)
        else { throw ConditionFault(.syntax, at: start, "the escape names no character of Unicode") }
        position += digits
        return scalar
    }
}
