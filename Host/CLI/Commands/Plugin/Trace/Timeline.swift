import Model

/// The events of a timeline, in the format of Chrome's trace events: a process for each account, a thread for the plugin,
/// a complete event (`X`) for each call, and an instant event (`i`) for each thing that comes of it. Times are the host's,
/// in microseconds since 1970. A value without I/O.
struct Timeline {
    private struct Track {
        let number: Int64
        /// Whether the plugin's name was told.
        var isNamed = false
        /// The begin of the call under way.
        var begin: JSONValue?
        /// The time of the last line.
        var last: Int64 = 0
    }

    private var tracks: [String: Track] = [:]

    /// Returns the events that begin an account's part; none if it has begun.
    mutating func begin(_ account: String) -> [JSONValue] {
        guard tracks[account] == nil else { return [] }
        let track = Track(number: Int64(tracks.count + 1))
        tracks[account] = track
        return [Self.name("process_name", account, track.number)]
    }

    /// Returns the events for a line of a trace.
    mutating func events(of line: JSONValue, in account: String) -> [JSONValue] {
        let first = begin(account)
        guard var track = tracks[account] else { return first }
        defer { tracks[account] = track }
        var events = first
        if !track.isNamed, let plugin = line.text("plugin") {
            events.append(Self.name("thread_name", plugin, track.number))
            track.isNamed = true
        }
        if let time = line.text("time").flatMap({ Timestamp(rfc3339: $0) }) { track.last = time.nanoseconds / 1_000 }
        switch line.text("phase") {
        case "begin": track.begin = Self.event("B", line.text("call") ?? "", at: track.last, track.number, line)
        case "leftOut":
            track.begin = nil
            guard case .integer(let count)? = line["count"] else { break }
            events.append(Self.instant("\(count) lines left out", at: track.last, track.number, line))
        case let phase? where phase != "end":
            let name = [phase, line.text("what")].compactMap(\.self).joined(separator: ": ")
            events.append(Self.instant(name, at: track.last, track.number, line))
        default:
            track.begin = nil
            guard let call = line.text("call"), case .integer(let length)? = line["microseconds"] else { break }
            events.append(
                Self.event("X", call, at: track.last.subtracting(length), track.number, line, ["dur": .integer(length)])
            )
        }
        return events
    }

    /// Returns the begins of the calls that are still under way.
    func end() -> [JSONValue] { tracks.values.sorted { $0.number < $1.number }.compactMap(\.begin) }

    private static func instant(_ name: String, at time: Int64, _ track: Int64, _ line: JSONValue) -> JSONValue {
        event("i", name, at: time, track, line, ["s": .string("t")])
    }

    private static func name(_ kind: String, _ name: String, _ track: Int64) -> JSONValue {
        .object([
            "ph": .string("M"), "name": .string(kind), "pid": .integer(track), "tid": .integer(track),
            "args": .object(["name": .string(name)]),
        ])
    }

    private static func event(
        _ kind: String, _ name: String, at time: Int64, _ track: Int64, _ line: JSONValue,
        _ more: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        let arguments = ["path", "loop", "trigger", "status", "text", "because"].compactMap { name in
            line.text(name).map { JSONValue.Member(name: name, value: .string($0)) }
        }
        return .object(
            [
                .init(name: "ph", value: .string(kind)), .init(name: "name", value: .string(name)),
                .init(name: "ts", value: .integer(time)), .init(name: "pid", value: .integer(track)),
                .init(name: "tid", value: .integer(track)),
            ] + more.map { .init(name: $0.key, value: $0.value) } + [.init(name: "args", value: .object(arguments))])
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}
