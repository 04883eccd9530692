import LarderSDK

/// Where a file's copy is supposed to be when a condition is asked.
enum Supposed {
    /// Where it is.
    case asItIs
    /// Here, just brought by this plugin.
    case here
    /// Away, its copy just removed.
    case away
}

/// A condition as a person wrote it. It is valid: the host has checked it.
///
/// It is read as far as is needed to put values in the place of the properties that change when a copy comes or goes,
/// and to tell the terms apart that `||` joins.
struct ConditionText {
    let text: String
    /// The places of the names outside of texts in quotes, in bytes.
    private var names: [Range<Int>] = []
    /// The places of `||` outside of parentheses.
    private var alternations: [Int] = []

    init(_ text: String) {
        self.text = text
        let bytes = Array(text.utf8)
        var (index, depth) = (0, 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): index = Self.end(ofQuoted: bytes, at: index, isRaw: false)
            case let letter where letter.isLetter:
                let end = bytes[index...].firstIndex { !$0.isLetter && !$0.isDigit } ?? bytes.count
                let isPrefix = end - index == 1 && (letter | 0x20) == UInt8(ascii: "r")
                if isPrefix, end < bytes.count, bytes[end].isQuote {
                    index = Self.end(ofQuoted: bytes, at: end, isRaw: true)
                } else {
                    names.append(index..<end)
                    index = end
                }
            case let byte:
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                let isPair = index + 1 < bytes.count && bytes[index + 1] == byte
                if byte == UInt8(ascii: "|"), isPair, depth == 0 { alternations.append(index) }
                index += byte == UInt8(ascii: "|") ? 2 : 1
            }
        }
    }

    private static func end(ofQuoted bytes: [UInt8], at start: Int, isRaw: Bool) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != bytes[start] {
            index += !isRaw && bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1
    }

    /// Tells whether the condition has a name outside of texts in quotes.
    func names(_ name: String) -> Bool { names.contains { word(at: $0).elementsEqual(name.utf8) } }

    /// Whether the condition may change when a copy comes or goes.
    var dependsOnCopy: Bool { names.contains { Self.value(of: word(at: $0), when: .here) != nil } }

    /// The condition with the values that the properties have then in their place.
    func text(when supposed: Supposed) -> String {
        guard supposed != .asItIs else { return text }
        let bytes = text.utf8
        var (result, end) = (Substring(), bytes.startIndex)
        for name in names {
            guard let value = Self.value(of: word(at: name), when: supposed) else { continue }
            let start = bytes.index(bytes.startIndex, offsetBy: name.lowerBound)
            result += text[end..<start] + value
            end = bytes.index(bytes.startIndex, offsetBy: name.upperBound)
        }
        return String(result + text[end...])
    }

    /// The terms that `||` joins, the whole condition if there is none.
    var alternatives: [String] {
        let bytes = text.utf8
        var (terms, start): ([String], _) = ([], bytes.startIndex)
        for place in alternations {
            let end = bytes.index(bytes.startIndex, offsetBy: place)
            terms.append(Self.trimmed(text[start..<end]))
            start = bytes.index(end, offsetBy: 2)
        }
        return terms + [Self.trimmed(text[start...])]
    }

    /// Line breaks stand only between the parts of a condition, where blanks do as well.
    private static func trimmed(_ text: Substring) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ").trimmingBlanks()
    }

    private func word(at range: Range<Int>) -> Substring.UTF8View {
        text.utf8.dropFirst(range.lowerBound).prefix(range.count)
    }

    /// Returns what a property is when a copy has just come or gone; nil for a property that does not depend on that.
    private static func value(of property: Substring.UTF8View, when supposed: Supposed) -> String? {
        let isHere = supposed == .here
        return switch String(Substring(property)) {
        case "cloudStatus": isHere ? CloudStatus.localCopy.literal : CloudStatus.cloudOnly.literal
        case "downloadTrigger": isHere ? Rules.description.id.literal : "null"
        case "remoteVersion": isHere ? RemoteVersion.current.literal : "null"
        // A download counts as use; a removal leaves the time as it is.
        case "lastUsed": isHere ? "now" : "lastUsed"
        case "syncActivity": "[\"\"]"
        default: nil
        }
    }
}

extension String {
    fileprivate func trimmingBlanks() -> String {
        var text = Substring(self)
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self == UInt8(ascii: "_")
    }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
}
