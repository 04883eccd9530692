/// The head of an answer: the status, and the header fields.
///
///     var head = AnswerHead()
///     head.take(line)
package struct AnswerHead: Sendable, Equatable {
    /// The status; 0 if there is none.
    package private(set) var status = 0
    package private(set) var headers = HTTPHeaders()

    package init() {}

    /// Reads a whole head.
    /// - Parameter lines: The lines, each with its line end.
    package init(_ lines: [UInt8]) {
        lines.withUnsafeBytes { lines in
            var rest = lines[...]
            while let end = rest.firstIndex(of: 0x0a) {
                take(UnsafeRawBufferPointer(rebasing: rest[...end]))
                rest = rest[(end + 1)...]
            }
        }
    }

    /// Takes a line, with or without its line end. A status line begins anew, since an answer before the answer may have
    /// come (RFC 9110, section 15.2).
    /// - Returns: Whether the line is the empty one that ends the head.
    @discardableResult
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var end = bytes.endIndex
        while end > 0, bytes[end - 1] == 0x0a || bytes[end - 1] == 0x0d { end -= 1 }
        let line = UnsafeRawBufferPointer(rebasing: bytes[..<end])
        if line.isEmpty { return true }
        if line.starts(with: Array("HTTP/".utf8)) {
            headers = HTTPHeaders()
            headers.reserveCapacity(12)
            status = Self.status(line)
        } else if line[0] == 0x20 || line[0] == 0x09 {
            // A value that goes on in the next line (RFC 9112, section 5.2).
            headers.extendLast(by: Self.text(line[...]))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.add(name: Self.text(line[..<colon]), value: Self.text(line[(colon + 1)...]))
        }
        return false
    }

    private static func status(_ line: UnsafeRawBufferPointer) -> Int {
        guard let blank = line.firstIndex(of: 0x20) else { return 0 }
        return line[(blank + 1)...].prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
