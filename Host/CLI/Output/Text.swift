import Model

/// Functions that format values for people.
enum Text {
    /// Returns the text with control characters escaped, so that a name from a server cannot move the cursor, turn the
    /// direction of the text around or begin a line of its own. JSON stays the same JSON.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where isControl(scalar):
                let digits = String(scalar.value, radix: 16)
                let (start, length) = scalar.value > 0xffff ? ("\\U", 8) : ("\\u", 4)
                result += start + String(repeating: "0", count: length - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns several lines, each as ``visible(_:)``, with their tabs.
    static func visibleLines(_ text: String) -> String {
        let ends: (Unicode.Scalar) -> Bool = { $0 == "\n" }
        return text.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: ends).map { line in
            let line = line.last == "\r" ? line.dropLast() : line
            return line.split(separator: "\t", omittingEmptySubsequences: false).map { visible(String($0)) }
                .joined(separator: "\t")
        }.joined(separator: "\n")
    }

    /// Returns the text as one word of a command line, which a shell takes as it is. A person may copy it.
    static func word(_ text: String) -> String {
        if text.isEmpty { return "''" }
        // A backslash means the same in every shell. In fish, it does so between single quotes too.
        return escaped(visible(text)) { scalar in
            scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
                && !"/._-:@%+,".unicodeScalars.contains(scalar)
        }
    }

    /// Returns the text with a backslash before some of its characters.
    static func escaped(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    /// Returns the visible text, or the beginning and the length of a text that is longer than the limit, such as the
    /// condition of many policies.
    static func shortened(_ text: String, to limit: Int = 500) -> String {
        let count = text.count
        return count <= limit ? visible(text) : "\(visible(String(text.prefix(limit))))… (\(count) characters)"
    }

    /// Returns the beginning of a visible text. An escape such as `\u202e` is there whole or not at all.
    static func cut(_ text: String, to limit: Int) -> String {
        let beginning = text.prefix(limit)
        guard beginning.endIndex < text.endIndex, let start = beginning.suffix(9).lastIndex(of: "\\") else {
            return String(beginning)
        }
        let letter = text[text.index(after: start)]
        let digits = letter == "u" ? 4 : letter == "U" ? 8 : 0
        let escape = text[start...].prefix(2 + digits)
        let isEscape =
            escape.count == 2 + digits && "uUnrt".contains(letter) && escape.dropFirst(2).allSatisfy(\.isHexDigit)
        return String(isEscape && escape.endIndex > beginning.endIndex ? text[..<start] : beginning)
    }

    /// Tells whether a character is shown unescaped.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool { !isControl(scalar) }

    /// Control characters, line separators, the marks that change the direction of text, and those that nobody sees: two
    /// names that differ by them look alike. The joiners are not among them, which some scripts and emoji need.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        case 0x180e, 0x200b, 0x2060...0x2064, 0xfeff, 0xfff9...0xfffb, 0xe0000...0xe007f: true
        default: false
        }
    }

    /// Returns a size such as `0 B`, `999 B`, `1.2 kB` or `20 GB`; a dash if there is none.
    static func bytes(_ count: Int64?) -> String { count.map { WrittenQuantity.rough(bytes: $0) } ?? "-" }

    /// Returns a rough duration such as `8 s`, `3 min` or `2 h 5 min`.
    static func rough(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        if seconds < 86_400 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }

    /// Returns a time to the second, in UTC.
    static func time(_ time: Timestamp?) -> String { time.map { Timestamp(seconds: $0.seconds).description } ?? "-" }

    static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
    }

    static func padded(_ text: String, to width: Int, atRight: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return atRight ? space + text : text + space
    }
}

/// A table with aligned columns.
struct Table {
    private var rows: [[String]]
    private let numbers: Set<Int>

    /// Makes a table without rows.
    /// - Parameter numbers: the indices of the columns that are aligned at the right.
    init(_ head: [String], numbers: Set<Int> = []) {
        rows = [head.map { $0.uppercased() }]
        self.numbers = numbers
    }

    mutating func add(_ row: [String]) { rows.append(row.map(Text.visible)) }

    /// The lines of the table; none if no row was added.
    var lines: [String] {
        guard rows.count > 1 else { return [] }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                Text.padded(cell, to: widths[column], atRight: numbers.contains(column))
            }
            let line = cells.joined(separator: "  ")
            return String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
        }
    }
}
