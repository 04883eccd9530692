/// Reads the content lines of a calendar object, unfolded, from bytes that may be anything (RFC 5545, section 3.1).
///
/// Lines end with CRLF or LF. A fold may lie inside a character. What is no content line is passed over.
public struct ContentLines: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if bytes.count >= 3, (0..<3).allSatisfy({ bytes[$0] == mark[$0] }) { position = 3 }
    }

    /// The next line; nil past the last.
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

    /// Steps over the blank that joins the next line to this one.
    private mutating func takesFold() -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t")
        else { return false }
        position += 1
        return true
    }
}
