public import Model

/// What turns the bytes after a head into the bytes of the body (RFC 9112, section 6). A value without I/O.
public struct HTTPBody: Sendable {
    private enum Form {
        case rest(Int)
        /// Pieces, each after a line with its length; -1 while that line is read.
        case pieces(left: Int)
        /// The lines after the last piece, of so many bytes.
        case trailer(Int)
        /// Until the connection ends.
        case open
    }

    private var form: Form
    private var line: [UInt8] = []

    /// Whether nothing more comes.
    public var isWhole: Bool {
        if case .rest(0) = form { true } else { false }
    }

    /// Whether the end of the connection ends the body.
    public var endsWithConnection: Bool {
        if case .open = form { true } else { false }
    }

    /// The length that the head tells; nil if it tells none.
    public var length: Int? {
        if case .rest(let count) = form { count } else { nil }
    }

    /// - Parameters:
    ///   - head: the message's head.
    ///   - isRequest: whether the message is a request, which has no body unless it tells of one.
    /// - Throws: `badData` if the head's fields make no sense.
    public init(after head: HTTPHead, isRequest: Bool) throws(Failure) {
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

    /// Takes the bytes of the body out of those that arrived.
    /// - Parameter rest: What arrived. What comes after the body's end stays.
    /// - Returns: The bytes of the body.
    /// - Throws: `badData` if the pieces make no sense.
    public mutating func take(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
        var body: [UInt8] = []
        while !rest.isEmpty {
            switch form {
            case .open:
                body += rest
                rest = []
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
                if case .trailer(let count) = form {
                    guard count < HTTPHead.longest else { throw HTTPHead.nonsense }
                    form = .trailer(count + 1)
                }
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
            form = count == 0 ? .trailer(0) : .pieces(left: count)
        }
    }

    /// Bytes as a piece of a body whose length is not known when it begins; the last piece if there are none.
    public static func piece(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }
}
