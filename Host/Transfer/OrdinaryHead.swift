/// The rule for the head of an answer to the request of a small file that needs no second thought. A value without I/O.
///
///     OrdinaryHead.of(head, tag: "\"v1\"", size: 12)  // .ordinary
enum OrdinaryHead: Equatable {
    /// The head is what was expected.
    case ordinary
    /// The head is what was expected, and names the SHA-1 of the content.
    case withSHA1(SHA1)
    /// Anything else.
    case other

    /// Twenty bytes.
    struct SHA1: Equatable { var bytes: [UInt8] }

    /// Tells what a head is: ordinary is the status 200 with the expected ETag and length, each once, without a coding,
    /// and without a checksum other than SHA-1.
    /// - Parameters:
    ///   - head: The lines of the head, each with its line end.
    ///   - tag: The strong ETag that was asked for, with its quotes.
    ///   - size: The number of bytes that the file has.
    static func of(_ head: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, size: Int64) -> OrdinaryHead {
        var rest = head[...]
        guard let status = takeLine(&rest), has(status, " 200") else { return .other }
        var (hasTag, hasLength) = (false, false)
        var sum: SHA1?
        while let line = takeLine(&rest), !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                !isBlank(line[line.startIndex])
            else { return .other }
            let (name, value) = (line[..<colon], trimmed(line[(colon + 1)...]))
            switch name.count {
            case 4 where isName(name, "etag"):
                guard !hasTag, value.elementsEqual(tag) else { return .other }
                hasTag = true
            case 14 where isName(name, "content-length"):
                guard !hasLength, number(value) == size else { return .other }
                hasLength = true
            case 16 where isName(name, "content-encoding"), 17 where isName(name, "transfer-encoding"),
                13 where isName(name, "content-range"):
                return .other
            case 11 where isName(name, "oc-checksum"):
                guard sum == nil, let found = sha1(value) else { return .other }
                sum = found
            default: continue
            }
        }
        guard hasTag, hasLength else { return .other }
        return sum.map { .withSHA1($0) } ?? .ordinary
    }

    /// Tells whether a head is that of an answer to an upload which says that the server has taken the file: the status is
    /// 201 or 204.
    static func isMade(_ head: UnsafeRawBufferPointer) -> Bool {
        var rest = head[...]
        guard let status = takeLine(&rest) else { return false }
        return has(status, " 201") || has(status, " 204")
    }

    private typealias Bytes = Slice<UnsafeRawBufferPointer>

    private static func takeLine(_ rest: inout Bytes) -> Bytes? {
        guard let end = rest.firstIndex(of: 0x0a) else { return nil }
        var line = rest[..<end]
        if line.last == 0x0d { line = line.dropLast() }
        rest = rest[(end + 1)...]
        return line
    }

    /// Tells whether a line is a status line with a status, which comes with a blank before it (RFC 9112, section 4).
    private static func has(_ line: Bytes, _ status: String) -> Bool {
        let beginning = Array("HTTP/1.".utf8)
        guard line.count >= 12, line.starts(with: beginning) else { return false }
        let rest = line.dropFirst(beginning.count + 1)
        return rest.starts(with: Array(status.utf8)) && (rest.count == 4 || rest.dropFirst(4).first == 0x20)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ bytes: Bytes) -> Bytes {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
        return bytes
    }

    private static func isName(_ bytes: Bytes, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { name in zip(bytes, name).allSatisfy { ($0 | 0x20) == $1 || $0 == $1 } }
    }

    private static func number(_ bytes: Bytes) -> Int64? {
        guard (1...18).contains(bytes.count), bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Returns the checksum in a field of which it is all: `SHA1:` with 40 hexadecimal digits.
    private static func sha1(_ bytes: Bytes) -> SHA1? {
        let beginning = Array("SHA1:".utf8)
        guard bytes.count == 45, bytes.starts(with: beginning) else { return nil }
        let digits = bytes.dropFirst(beginning.count).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 40 else { return nil }
        return SHA1(bytes: stride(from: 0, to: 40, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
