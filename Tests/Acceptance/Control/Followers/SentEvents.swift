import FoundationEssentials
import Glibc
import TestSupport

/// The reader of an answer that is a stream of server-sent events, by the standards and without any code of Larder's.
struct SentEvents {
    /// An event that came whole.
    struct Event {
        /// The last id that the stream had named by then.
        var id: String?
        var name: String
        var data: String
    }

    /// The answer's status; nil before it has come.
    private(set) var status: Int?
    /// The last id that the stream named with a whole event.
    private(set) var lastID: String?
    /// Bytes of the answer that are not read yet.
    private var raw: [UInt8] = []
    /// Bytes of the body that are no whole line yet.
    private var line: [UInt8] = []
    /// What is left of the chunk that is being read; nil if the next line is a chunk's size.
    private var left: Int?
    private var isChunked = false
    private var isOver = false
    private var event = Event(id: nil, name: "message", data: "")
    private var id: String?
    private var lines: [String] = []

    /// Whether what came ends in the middle of an event.
    var isInsideEvent: Bool { !lines.isEmpty || !line.isEmpty || !raw.isEmpty || (left ?? 0) > 0 }

    /// Takes bytes of the answer.
    /// - Returns: The events that are whole now.
    /// - Throws: `SetupError` if the answer is none.
    mutating func take(_ bytes: some Sequence<UInt8>) throws -> [Event] {
        raw += bytes
        if status == nil { try readHead() }
        guard status != nil else { return [] }
        guard isChunked else {
            defer { raw = [] }
            return read(raw)
        }
        var events: [Event] = []
        while let piece = try nextPiece() { events += read(piece) }
        return events
    }

    private mutating func readHead() throws {
        guard let end = raw.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        let head = String(decoding: raw[..<end.lowerBound], as: UTF8.self).lowercased()
        guard head.hasPrefix("http/1.1 "), let status = Int(head.dropFirst(9).prefix(3)) else {
            throw SetupError("no answer: \(head)")
        }
        self.status = status
        isChunked = head.contains("transfer-encoding: chunked")
        raw.removeSubrange(..<end.upperBound)
    }

    /// Returns the next bytes of the body; nil if there are none.
    private mutating func nextPiece() throws -> [UInt8]? {
        guard !isOver else { return nil }
        if left == nil {
            guard let end = raw.firstRange(of: Array("\r\n".utf8)) else { return nil }
            let text = String(decoding: raw[..<end.lowerBound], as: UTF8.self)
            guard let size = Int(text, radix: 16) else { throw SetupError("no size of a chunk: \(text)") }
            raw.removeSubrange(..<end.upperBound)
            isOver = size == 0
            left = size
            if isOver { return nil }
        }
        guard let size = left else { return nil }
        if size > 0 {
            guard !raw.isEmpty else { return nil }
            let piece = Array(raw.prefix(size))
            raw.removeFirst(piece.count)
            left = size - piece.count
            return piece
        }
        guard raw.count >= 2 else { return nil }
        guard raw.starts(with: "\r\n".utf8) else { throw SetupError("a chunk does not end at its end") }
        raw.removeFirst(2)
        left = nil
        return []
    }

    private mutating func read(_ bytes: [UInt8]) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let whole = end(String(decoding: line, as: UTF8.self)) { events.append(whole) }
            line = []
        }
        return events
    }

    /// Ends a line.
    /// - Returns: The event that ends with it.
    private mutating func end(_ text: String) -> Event? {
        guard !text.isEmpty else {
            defer { (event, lines) = (Event(id: nil, name: "message", data: ""), []) }
            lastID = id
            guard !lines.isEmpty else { return nil }
            event.id = id
            event.data = lines.joined(separator: "\n")
            return event
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.hasPrefix(" ") { value = value.dropFirst() }
        switch parts[0] {
        case "id": id = String(value)
        case "event": event.name = String(value)
        case "data": lines.append(String(value))
        default: break  // A comment begins with a colon.
        }
        return nil
    }
}
