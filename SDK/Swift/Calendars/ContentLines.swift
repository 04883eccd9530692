/// A reader of the unfolded content lines of a calendar object (RFC 5545, section 3.1), for untrusted bytes.
///
/// ```swift
/// let object = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"
/// var lines = ContentLines(object.utf8.span)
/// while let line = lines.next() { host.log?.debug(line.name) }
/// ```
///
/// Lines end with CRLF or LF. A fold may lie inside a character. The reader skips lines that are not content lines.
public struct ContentLines: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    /// Creates a reader of a calendar object's bytes. It skips a byte order mark.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if bytes.count >= 3, (0..<3).allSatisfy({ bytes[$0] == mark[$0] }) { position = 3 }
    }

    /// Returns the next line, or nil past the last one.
    public mutating func next() -> ContentLine? {
        while let line = unfolded() {
            if let line = ContentLine(line) { return line }
        }
        return nil
    }

    private mutating func unfolded() -> [UInt8]? {
        guard position < bytes.count else { return nil }
        var line: [UInt8] = []
        repeat {
            let start = position
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            let end = position > start && bytes[position - 1] == UInt8(ascii: "\r") ? position - 1 : position
            bytes.extracting(start..<end).withUnsafeBufferPointer { line += $0 }
            position += 1
        } while takesFold()
        return line
    }

    /// Skips the blank that joins the next line to this one, and tells whether there was one.
    private mutating func takesFold() -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t")
        else { return false }
        position += 1
        return true
    }
}
