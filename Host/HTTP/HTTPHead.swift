public import Model

/// The first line and the header fields of an HTTP/1.1 message (RFC 9112). A value without I/O.
///
/// ```swift
/// let head = HTTPHead(line: "HTTP/1.1 204 No Content", fields: ["Connection": "close"])
/// try await socket.write(head.bytes)
/// ```
public struct HTTPHead: Equatable, Sendable {
    /// The first line: a request's or an answer's.
    public var line: String
    /// The values of the header fields by their names, in small letters. Values of one name are joined by a comma.
    public var fields: [String: String] = [:]

    /// The largest number of bytes, and of header fields.
    public static let (longest, mostFields) = (65_536, 50)

    /// Reads the head at the beginning of a message.
    /// - Returns: The head and the number of its bytes; nil if its end has not come yet.
    /// - Throws: `badData` if it is none, or too long.
    public static func read(
        _ bytes: some RandomAccessCollection<UInt8>
    ) throws(Failure) -> (head: HTTPHead, count: Int)? {
        var lines: [String] = []
        var line: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            guard index < longest else { break }
            guard byte == UInt8(ascii: "\n") else {
                // Who speaks another protocol may wait for the answer before the line ends.
                guard byte >= 32 || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") else {
                    throw Self.nonsense
                }
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                guard !lines.isEmpty else { throw Self.nonsense }
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

    /// - Parameters:
    ///   - line: The first line, without its end.
    ///   - fields: The values of the header fields by their names.
    public init(line: String, fields: [String: String] = [:]) { (self.line, self.fields) = (line, fields) }

    /// The words of the first line: method, target and version of a request; version, status and reason of an answer.
    public var words: [Substring] { line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false) }

    /// Whether the client of this request waits for the answer 100 before it sends the body (RFC 9110, section 10.1.1).
    public var isWaiting: Bool { fields["expect"]?.lowercased() == "100-continue" && words.last == "HTTP/1.1" }

    /// The head as it is sent.
    public var bytes: [UInt8] {
        let fields = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Array("\(line)\r\n\(fields)\r\n".utf8)
    }

    /// The failure of what is no message.
    public static let nonsense = Failure(.badData, "this is no message of HTTP/1.1")
}

extension StringProtocol {
    var trimmingBlanks: String {
        var rest = self[...]
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return String(rest)
    }
}
