/// A parser of a stream of events as it arrives (WHATWG HTML, section 9.2.6).
struct EventStreamParser: Equatable {
    struct Event: Equatable {
        /// The name of the event; `message` if the server gave none.
        var name: String
        var data: String
    }

    /// The error for a line or an event that is longer than anything a server announces.
    struct TooLong: Error, Equatable {}

    /// The largest length of an unfinished event, in bytes.
    static let longest = 65_536

    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var isAfterReturn = false
    private var isFirstLine = true

    /// Reads further bytes.
    /// - Returns: The events that are complete. An event that the stream's end cuts off is dropped.
    /// - Throws: An error if the unfinished event is longer than ``longest``.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            defer { isAfterReturn = byte == 0x0d }
            if byte == 0x0a || byte == 0x0d {
                // A line feed after a carriage return does not end another line: the return has ended the line.
                if byte == 0x0a, isAfterReturn { continue }
                if let event = endLine() { events.append(event) }
                line.removeAll(keepingCapacity: true)
            } else {
                line.append(byte)
            }
            guard line.count + data.count <= Self.longest else { throw TooLong() }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        if isFirstLine, line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        isFirstLine = false
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
        return Event(name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self))
    }
}
