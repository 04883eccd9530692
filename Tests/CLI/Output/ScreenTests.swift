import Testing

@testable import larder

@Suite struct ScreenTests {
    @Test("U10: a frame overwrites the one before, is cut to the width, and says what does not fit below")
    func frame() {
        let frame = Screen.frame(["home: online", "  items      3", "a long line"], .init(columns: 8, rows: 3))
        #expect(frame.hasPrefix("\u{1b}[?2026h\u{1b}[H") && frame.hasSuffix("\u{1b}[J\u{1b}[?2026l"))
        let lines = frame.split(separator: "\r\n").map {
            $0.split(separator: "\u{1b}[K", omittingEmptySubsequences: false)
        }
        #expect(lines.count == 3)
        #expect(frame.contains("[Hhome: on\u{1b}[K\r\n  items \u{1b}[K\r\na long l\u{1b}[K\u{1b}[J"))
        let low = Screen.frame(["1", "2", "3", "4"], .init(columns: 80, rows: 3))
        #expect(low.contains("[H1\u{1b}[K\r\n2\u{1b}[K\r\n… 2 more lines\u{1b}[K\u{1b}[J"))
        #expect(Screen.frame(["1", "2"], .init(columns: 0, rows: 0)).contains("[H…\u{1b}[K\u{1b}[J"))
        for (width, cut) in [(6, "a"), (7, "a\\u202e"), (12, "a\\u202eb"), (18, "a\\u202eb\\U000e0041")] {
            let name = Screen.frame(["a\u{202e}b\u{e0041}c"], .init(columns: width, rows: 1))
            #expect(name.contains("[H\(cut)\u{1b}[K"), "\(width) \(name)")
        }
        // No escape, but as it is on the server.
        #expect(Screen.frame(["C:\\users"], .init(columns: 5, rows: 1)).contains("[HC:\\us\u{1b}[K"))
        #expect(Screen.frame(["a\nb"], .init(columns: 2, rows: 1)).contains("[Ha\u{1b}[K"))
        #expect(Screen.frame([], .init(columns: 80, rows: 3)).contains("[H\u{1b}[J"))
    }
}
