/// The event, task or journal entry of a calendar object (RFC 5545, section 3.6).
///
/// ```swift
/// let object = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
/// if let entry = CalendarEntry(parsing: object.utf8.span) {
///     host.log?.debug("\(entry.component): \(entry.summary ?? "")")
/// }
/// ```
public struct CalendarEntry: Hashable, Sendable {
    /// `VEVENT`, `VTODO`, `VJOURNAL`, or any other component but a time zone.
    public var component: String
    /// The UID.
    public var uid: String?
    /// The summary, without escapes.
    public var summary: String?
    /// The start: `2026-03-01T10:00:00Z`, with a time zone `2026-03-01T10:00:00[Europe/Vienna]`, without one
    /// `2026-03-01T10:00:00`, or a whole day `2026-03-01` (RFC 9557).
    public var start: String?
    /// The end, or the time when a task is due, in the form of ``start``. If the object has a duration, it is computed
    /// from the start.
    public var end: String?
    /// The recurrence rule as in the object: `FREQ=WEEKLY;BYDAY=MO`.
    public var rrule: String?

    private var isException = false

    private init(_ component: String) { self.component = component }

    /// Parses the first component that is not a time zone. For a series with exceptions it is the series itself. Nil if
    /// there is no such component, or if it has no end.
    public init?(parsing bytes: Span<UInt8>) {
        var lines = ContentLines(bytes)
        var first: CalendarEntry?
        while let line = lines.next() {
            guard line.name == "BEGIN" else { continue }
            let component = Self.clipped(line.value)
            guard component.uppercased() != "VCALENDAR" else { continue }
            guard let read = Self(component.uppercased(), &lines) else { break }
            if component.uppercased() == "VTIMEZONE" { continue }
            if first == nil { first = read }
            if !read.isException {
                if first?.uid == read.uid { first = read }
                break
            }
        }
        guard let first else { return nil }
        self = first
    }

    /// Parses a component up to its end, and skips the components inside it.
    private init?(_ component: String, _ lines: inout ContentLines) {
        self.init(component)
        var depth = 0
        var (from, until): (CalendarTime?, CalendarTime?)
        var duration: Int64?
        while let line = lines.next() {
            switch line.name {
            case "BEGIN": depth += 1
            case "END" where depth == 0:
                start = from?.text
                end = (until ?? duration.flatMap { from?.after(seconds: $0) })?.text
                return
            case "END": depth -= 1
            case _ where depth > 0: continue
            case "UID": uid = uid ?? Self.clipped(line.text)
            case "SUMMARY": summary = summary ?? Self.clipped(line.text)
            case "RRULE": rrule = rrule ?? Self.clipped(line.value)
            case "RECURRENCE-ID": isException = true
            case "DTSTART": from = from ?? CalendarTime(line)
            case "DTEND", "DUE": until = until ?? CalendarTime(line)
            case "DURATION": duration = duration ?? CalendarTime.seconds(ofDuration: line.value)
            default: continue
            }
        }
        return nil
    }

    /// Cuts a text to a length for which a record's value has room.
    private static func clipped(_ text: String) -> String {
        let longest = 16 << 10
        guard text.utf8.count > longest else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longest)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
