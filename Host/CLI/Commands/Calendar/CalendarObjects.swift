import ArgumentParser
import Core
import Model

struct CalendarObjects: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects", abstract: "List the events and tasks of a calendar, without using the network.",
        discussion: "With --ics, prints the objects one after the other, as the server sent them (RFC 5545).")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The calendar's id, name or path on the server, as `calendar list` shows them.") var calendar:
        String
    @Flag(help: "Print the iCalendar text; with --json, add it as a member to each object.") var ics = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (isJSON, ics) = (global.isJSON, ics)
        let done: Void? = try await global.withReader { reader throws(Failure) in
            let key = try Self.find(calendar, among: try await reader.calendars())
            if isJSON || ics {
                try await reader.objects(of: key, withContent: ics) { object in
                    if isJSON {
                        console.print(JSONValue(object))
                    } else {
                        console.print(document: object.content ?? [])
                    }
                }
            } else {
                let rows = Rows()
                try await reader.objects(of: key, withContent: false) { rows.add($0) }
                for line in rows.table.lines { console.print(line) }
            }
        }
        if done == nil { throw Failure.noCalendar(calendar, among: []) }
        return []
    }

    /// Returns the key of the calendar that has the text as its id, else as its path, else as its name.
    /// - Throws: `notFound` if no calendar, or more than one, matches.
    static func find(_ text: String, among calendars: [CachedCalendar]) throws(Failure) -> RecordKey {
        let ways: [(CachedCalendar) -> String?] = [\.key.text, \.href, \.name]
        for way in ways {
            let found = calendars.filter { way($0)?.hasSameBytes(as: text) == true }
            if let one = found.first, found.count == 1 { return one.key }
            guard found.isEmpty else {
                let ids = found.map { Text.visible($0.key.text) }.joined(separator: ", ")
                throw Failure(
                    .notFound, "\(found.count) calendars are called `\(Text.visible(text))`",
                    hint: "name one by its id: \(ids)")
            }
        }
        throw .noCalendar(text, among: calendars)
    }
}

extension Failure {
    fileprivate static func noCalendar(_ text: String, among calendars: [CachedCalendar]) -> Failure {
        let names = calendars.map { Text.visible($0.name ?? $0.key.text) }
        let shown = names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
        return Failure(
            .notFound, "there is no calendar `\(Text.visible(text))`",
            hint: names.isEmpty
                ? "no calendars are known yet; `larder run --once` asks the server" : "the calendars are: \(shown)")
    }
}

/// The rows of a calendar's objects for people. They are added on a thread of the database.
private final class Rows: Sendable {
    private let rows = Collector<[String]>()

    func add(_ object: CachedCalendarObject) {
        rows.add([
            object.start ?? "-", object.end ?? "-", object.summary ?? object.uid ?? object.key.text,
            object.rule.map(Self.frequency) ?? "",
        ])
    }

    var table: Table {
        var table = Table(["start", "end", "summary", "repeats"])
        for row in rows.all { table.add(row) }
        return table
    }

    /// Returns the frequency of a recurrence rule, such as `weekly` for `FREQ=WEEKLY;BYDAY=MO`.
    private static func frequency(_ rule: String) -> String {
        let parts = rule.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1) }
        let word = parts.first { $0.count == 2 && $0[0].lowercased() == "freq" }?[1]
        return word.map { $0.lowercased() } ?? "yes"
    }
}

extension JSONValue {
    /// Makes a calendar object's JSON. The content is a member only if it was read.
    init(_ object: CachedCalendarObject) {
        var members = [
            Member(name: "id", value: .string(object.key.text)), Member(name: "uid", value: .string(object.uid)),
            Member(name: "component", value: .string(object.component)),
            Member(name: "summary", value: .string(object.summary)),
            Member(name: "start", value: .string(object.start)),
            Member(name: "end", value: .string(object.end)), Member(name: "rrule", value: .string(object.rule)),
            Member(name: "etag", value: .string(object.version.isEmpty ? nil : object.version)),
        ]
        if let content = object.content {
            members.append(Member(name: "ics", value: .string(String(decoding: content, as: UTF8.self))))
        }
        self = .object(members)
    }
}
