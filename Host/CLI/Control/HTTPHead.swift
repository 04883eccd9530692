import Model

/// The first line and the header fields of an HTTP/1.1 message (RFC 9112). A value without I/O.
struct HTTPHead: Equatable, Sendable {
    /// The first line: a request's or an answer's.
    var line: String
    /// The values of the header fields by their names, in small letters. Values of one name are joined by a comma.
    var fields: [String: String] = [:]

    /// The largest number of bytes, and of header fields.
    static let (longest, mostFields) = (16_384, 50)

    /// Reads the head at the beginning of a message.
    /// - Returns: the head and the number of its bytes; nil if its end has not come yet.
    /// - Throws: `badData` if it is none, or too long.
    static func read(_ bytes: some RandomAccessCollection<UInt8>) throws(Failure) -> (head: HTTPHead, count: Int)? {
        var lines: [String] = []
        var line: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            guard index < longest else { break }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                // An empty line before the first one is passed over (RFC 9112, section 2.2).
                guard !lines.isEmpty else { continue }
                return (try HTTPHead(lines: lines), index + 1)
            }
            guard !line.contains(where: { $0 < 32 && $0 != UInt8(ascii: "\t") }),
                let text = String(validating: line, as: UTF8.self)
            else { throw Self.nonsense }
            lines.append(text)
            guard lines.count <= mostFields + 1 else { throw Failure(.badData, "there are too many header fields") }
            line = []
        }
        guard bytes.count < longest else { throw Failure(.badData, "the head is longer than \(longest) bytes") }
        return nil
    }

    private init(lines: [String]) throws(Failure) {
        line = lines[0]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
                line[..<colon].utf8.allSatisfy({ $0 > 32 && $0 < 127 })
            else { throw Self.nonsense }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].trimmingBlanks
            fields[name] = fields[name].map { "\($0), \(value)" } ?? value
        }
    }

    init(line: String, fields: [String: String] = [:]) { (self.line, self.fields) = (line, fields) }

    /// The words of the first line: method, target and version of a request; version, status and reason of an answer.
    var words: [Substring] { line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false) }

    /// The head as it is sent.
    var bytes: [UInt8] {
        let fields = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Array("\(line)\r\n\(fields)\r\n".utf8)
    }

    static let nonsense = Failure(.badData, "this is no message of HTTP/1.1")
}

/// What turns the bytes after a head into the bytes of the body (RFC 9112, section 6). A value without I/O.
struct HTTPBody: Sendable {
    private enum Form {
        case rest(Int)
        /// Pieces, each after a line with its length; -1 while that line is read.
        case pieces(left: Int)
        /// The lines after the last piece.
        case trailer
        /// Until the connection ends.
        case open
    }

    private var form: Form
    private var line: [UInt8] = []

    /// Whether nothing more comes.
    var isWhole: Bool {
        if case .rest(0) = form { true } else { false }
    }

    /// Whether the end of the connection ends the body.
    var endsWithConnection: Bool {
        if case .open = form { true } else { false }
    }

    /// The length that the head tells; nil if it tells none.
    var length: Int? {
        if case .rest(let count) = form { count } else { nil }
    }

    /// - Parameters:
    ///   - head: the message's head.
    ///   - isRequest: whether the message is a request, which has no body unless it tells of one.
    /// - Throws: `badData` if the head's fields make no sense.
    init(after head: HTTPHead, isRequest: Bool) throws(Failure) {
        let length = head.fields["content-length"]
        if let coding = head.fields["transfer-encoding"] {
            guard coding.lowercased() == "chunked", length == nil else { throw HTTPHead.nonsense }
            form = .pieces(left: -1)
        } else if let length {
            let lengths = Set(length.split(separator: ",").map(\.trimmingBlanks))
            guard lengths.count == 1, let digits = lengths.first, digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let count = Int(digits)
            else { throw HTTPHead.nonsense }
            form = .rest(count)
        } else {
            form = isRequest ? .rest(0) : .open
        }
    }

    /// Takes bytes that arrived.
    /// - Returns: those of the body. What comes after its end is dropped.
    /// - Throws: `badData` if the pieces make no sense.
    mutating func take(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        var body: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            switch form {
            case .open:
                body += rest
                return body
            case .rest(0): return body
            case .rest(let left):
                let piece = rest.prefix(left)
                body += piece
                rest = rest.dropFirst(piece.count)
                form = .rest(left - piece.count)
            case .pieces(let left) where left > 0:
                let piece = rest.prefix(left)
                body += piece
                rest = rest.dropFirst(piece.count)
                form = .pieces(left: left - piece.count)
            case .pieces, .trailer:
                let byte = rest.removeFirst()
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    guard line.count <= 1_024 else { throw HTTPHead.nonsense }
                    continue
                }
                try takeLine()
            }
        }
        return body
    }

    private mutating func takeLine() throws(Failure) {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        line = []
        switch form {
        case .trailer: if text.isEmpty { form = .rest(0) }
        // The line's end after a piece.
        case .pieces(left: 0):
            guard text.isEmpty else { throw HTTPHead.nonsense }
            form = .pieces(left: -1)
        default:
            let digits = text.prefix { $0 != ";" }.trimmingBlanks
            guard !digits.isEmpty, digits.utf8.count < 8, digits.allSatisfy(\.isHexDigit),
                let count = Int(digits, radix: 16)
            else { throw HTTPHead.nonsense }
            form = count == 0 ? .trailer : .pieces(left: count)
        }
    }

    /// Bytes as a piece of a body whose length is not known when it begins; the last piece if there are none.
    static func piece(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: String {
        var rest = self[...]
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return String(rest)
    }
}
