/// The conversion of lines and columns of a YAML text to offsets of bytes.
///
/// A line ends with CR, LF, CR and LF together, NEL, LS or PS, as for YAML's scanner.
struct TextPlaces {
    private let text: String
    /// The offset of each line's first byte.
    private let lineStarts: [Int]

    init(_ text: String) {
        self.text = text
        // A byte order mark is no character of the first line.
        var starts = [text.unicodeScalars.first == "\u{feff}" ? UTF8.width("\u{feff}") : 0]
        var offset = 0
        var afterReturn = false
        for scalar in text.unicodeScalars {
            offset += UTF8.width(scalar)
            let isFeed = scalar == "\n"
            if isFeed && afterReturn {
                starts[starts.count - 1] = offset
            } else if isFeed || scalar == "\r" || scalar == "\u{85}" || scalar == "\u{2028}" || scalar == "\u{2029}" {
                starts.append(offset)
            }
            afterReturn = scalar == "\r"
        }
        lineStarts = starts
    }

    /// Returns the offset of a place.
    /// - Parameters:
    ///   - line: the line, from 1.
    ///   - column: the column, from 1, in Unicode scalars.
    /// - Returns: the offset of the byte; nil if there is no such place. The place behind the last character is valid.
    func offset(line: Int, column: Int) -> Int? {
        guard line >= 1, line <= lineStarts.count, column >= 1 else { return nil }
        let scalars = text.unicodeScalars
        let start = text.utf8.index(text.utf8.startIndex, offsetBy: lineStarts[line - 1])
        guard let index = scalars.index(start, offsetBy: column - 1, limitedBy: scalars.endIndex) else { return nil }
        return text.utf8.distance(from: text.utf8.startIndex, to: index)
    }

    /// Returns the offset of the line's first byte; nil if there is no such line.
    func start(ofLine line: Int) -> Int? { line >= 1 && line <= lineStarts.count ? lineStarts[line - 1] : nil }
}
