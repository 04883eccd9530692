import Model

/// A terminal's screen that is drawn again and again in place. The frame that was there before is overwritten line by
/// line, in one write, so that nothing flickers.
struct Screen {
    /// The number of columns and rows.
    struct Size: Hashable {
        var columns: Int
        var rows: Int
    }

    /// Shows an empty screen of its own, without a cursor, in which long lines do not wrap.
    static let begin = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[H\u{1b}[2J"
    /// Shows what was there before, as it was.
    static let end = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    /// Returns what draws lines. What does not fit is left out; the last row says how many lines that are.
    static func frame(_ lines: [String], _ size: Size) -> String {
        let rows = max(1, size.rows)
        var shown = lines
        if lines.count > rows {
            shown = Array(lines.prefix(rows - 1))
            shown.append("… \(Text.count(lines.count - shown.count, "more line"))")
        }
        let cut = shown.map { Text.cut(Text.visible($0), to: max(1, size.columns)) + "\u{1b}[K" }
        // The terminal shows the frame when it is whole, if it can.
        return "\u{1b}[?2026h\u{1b}[H" + cut.joined(separator: "\r\n") + "\u{1b}[J\u{1b}[?2026l"
    }
}
