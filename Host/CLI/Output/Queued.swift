import Core
import Model

extension Text {
    /// The number of changes that are named.
    private static let mostNamed = 100

    /// Lines about changes that are queued and are not made.
    static func queued(_ changes: [QueuedChange]) -> [String] {
        let lines = changes.prefix(mostNamed).map { change in
            let other = change.otherPath.map { " \(change.action == "copy" ? "from" : "to") \(visible($0.text))" } ?? ""
            return "not made: \(change.action) of \(visible(change.path.text))\(other)"
        }
        return lines + (changes.count > mostNamed ? ["\(changes.count - mostNamed) more changes are not made"] : [])
    }

    /// A line about a snapshot of a file that is not uploaded.
    static func snapshot(_ snapshot: FoundSnapshot, at file: String) -> String {
        let path = snapshot.path.map { "to \(visible($0.text))" } ?? "to a path that is not known"
        return "not uploaded: \(visible(file)), \(bytes(snapshot.size)), \(path)"
    }
}

extension JSONValue {
    init(_ snapshot: FoundSnapshot, at file: String) {
        self = .object([
            "file": .string(file), "path": .string(snapshot.path?.text), "size": .integer(snapshot.size),
            "taken": .time(snapshot.taken),
        ])
    }
}
