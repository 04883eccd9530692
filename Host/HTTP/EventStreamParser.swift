/// A parser of a stream of events as it arrives (WHATWG HTML, section 9.2.6). A value without I/O.
///
/// ```swift
/// var parser = EventStreamParser(longest: 65_536)
/// for event in try parser.read(piece) { hear(event.name, event.data) }
/// ```
public struct EventStreamParser: Equatable, Sendable {
    /// An event of a stream.
    public struct Event: Equatable, Sendable {
        /// The name of the event; `message` if the server gave none.
        public var name: String
        /// The data, with a line feed between two lines.
        public var data: [UInt8]

        /// Creates an event.
        public init(name: String, data: [UInt8]) { (self.name, self.data) = (name, data) }
    }

    /// The error for an unfinished event that is longer than it may be.
    public struct TooLong: Error, Equatable {}

    private let longest: Int
    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var isAfterReturn = false
    private var isFirstLine = true
    private var hasLines = false

    /// Creates a parser for the beginning of a stream.
    /// - Parameter longest: The largest length of an unfinished event, in bytes.
    public init(longest: Int) { self.longest = longest }

    /// Whether the stream is between two events, so that its end would cut nothing off.
    public var isBetweenEvents: Bool { line.isEmpty && !hasLines }

    /// Reads further bytes.
    /// - Returns: The events that are complete. An event that the stream's end cuts off is dropped.
    /// - Throws: An error if the unfinished event is longer than it may be.
    public mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == 0x0a || byte == 0x0d else {
                line.append(byte)
                isAfterReturn = false
                continue
            }
            defer { isAfterReturn = byte == 0x0d }
            // A line feed after a carriage return does not end another line: the return has ended the line.
            if byte == 0x0a, isAfterReturn { continue }
            try check()
            if let event = endLine() { events.append(event) }
            line.removeAll(keepingCapacity: true)
        }
        try check()
        return events
    }

    private func check() throws(TooLong) {
        guard line.count + data.count <= longest else { throw TooLong() }
    }

    private mutating func endLine() -> Event? {
        if isFirstLine, line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        isFirstLine = false
        hasLines = !line.isEmpty
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        // The field name of a comment is empty. The fields `id` and `retry` are not used.
        if line[..<colon].elementsEqual("event".utf8) {
            name = String(decoding: value, as: UTF8.self)
        } else if line[..<colon].elementsEqual("data".utf8) {
            if hasData { data.append(0x0a) }
            data.append(contentsOf: value)
            hasData = true
        }
        return nil
    }

    private mutating func dispatch() -> Event? {
        defer { (name, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return Event(name: name.isEmpty ? "message" : name, data: data)
    }
}
