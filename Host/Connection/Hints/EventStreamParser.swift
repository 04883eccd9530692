/// Reads a stream of events as it arrives (WHATWG HTML, section 9.2.6).
struct EventStreamParser: Equatable {
    struct Event: Equatable {
        /// `message` if the server gave none.
        var name: String
        var data: String
    }

    /// A line or an event that is longer than anything a server announces.
    struct TooLong: Error, Equatable {}

    /// In bytes.
    static let longest = 65_536

    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var isAfterReturn = false
    private var isFirstLine = true

    /// Reads on.
    /// - Returns: the events that are complete by now. One that the stream's end cuts off is none.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            defer { isAfterReturn = byte == 0x0d }
            if byte == 0x0a || byte == 0x0d {
                // Of a return and a line feed the return has ended the line.
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
        // A comment has an empty field; `id` and `retry` are of no use here.
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
