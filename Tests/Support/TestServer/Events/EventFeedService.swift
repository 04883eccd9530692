import DemoServer
import HTTPTypes

/// Answers the requests for plain JSON events: the newest event id, the page after an event id, and listings.
struct EventFeedService: Sendable {
    /// The four forms of pages.
    private enum Form {
        case core, calendar
        /// Version 1 writes 0 and 1 where version 2 writes `false` and `true`.
        case share, shareVersion2

        var idName: String { self == .calendar ? "CalendarModelEventID" : "EventID" }
    }

    let feed: EventFeed

    static let path = "/events/"

    /// Answers a request for events.
    /// - Parameter path: the path below `/events/`, percent-encoded: `core/v5/events/ID`, or `core/ID` for short.
    func answer(_ path: Substring, method: String) -> Answer {
        guard method == "GET" else { return Answer(.methodNotAllowed) }
        var names: [String] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            guard let name = TreePath.decoded(part) else { return Answer(.badRequest) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        if let (channel, name) = Self.listing(names) {
            guard let things = feed.channel(channel)?.listing else { return failure(404, 2501, "There is no listing") }
            return success("\"\(name)\":[\(things.joined(separator: ","))]")
        }
        guard let id = names.popLast(), let (name, form) = Self.channel(names), let channel = feed.channel(name) else {
            return failure(404, 2501, "There is no such channel")
        }
        if id == "latest" { return success(#""\#(form.idName)":\#(OCSValue.quoted(channel.latest))"#) }
        if let scripted = feed.nextScripted(name) { return Answer(.ok, type: "application/json", text: scripted) }
        guard let known = channel.count(to: id) else { return failure(422, 2061, "Invalid ID") }
        guard known >= channel.forgotten else {
            return page(.init(refresh: form == .core || form == .calendar ? 255 : 1), channel.latest, false, form)
        }
        guard known < channel.pages.count else { return page(.init(), channel.latest, false, form) }
        let next = channel.pages[known]
        return page(next.page, next.id, known + 1 < channel.pages.count, form)
    }

    private static func listing(_ names: [String]) -> (channel: String, name: String)? {
        switch names {
        case ["calendar", "v1"]: ("core", "Calendars")
        case let names where names.count == 4 && names[0] == "calendar" && names[3] == "events":
            ("calendar/\(names[2])", "Events")
        default: nil
        }
    }

    private static func channel(_ names: [String]) -> (name: String, Form)? {
        switch names {
        case ["core"], ["core", "v4", "events"], ["core", "v5", "events"]: return ("core", .core)
        case let names where names.count == 2 && names[0] == "calendar": return ("calendar/\(names[1])", .calendar)
        case let names where names.count == 4 && names[0] == "calendar" && names[3] == "modelevents":
            return ("calendar/\(names[2])", .calendar)
        case let names where names.count == 2 && names[0] == "share": return ("share/\(names[1])", .share)
        case let names where names.count == 4 && names[0] == "drive" && names[3] == "events":
            return ("share/\(names[2])", .share)
        case let names where names.count == 5 && names[0] == "drive" && names[1] == "v2" && names[4] == "events":
            return ("share/\(names[3])", .shareVersion2)
        default: return nil
        }
    }

    private func page(_ page: EventFeed.Page, _ id: String, _ more: Bool, _ form: Form) -> Answer {
        var members = ["\"\(form.idName)\":\(OCSValue.quoted(id))"]
        if form == .shareVersion2 {
            members += ["\"Refresh\":\(page.refresh != 0)", "\"More\":\(more)"]
        } else {
            members += ["\"Refresh\":\(page.refresh)", "\"More\":\(more ? 1 : 0)"]
        }
        if !page.fields.isEmpty { members.append(page.fields) }
        return success(members.joined(separator: ","))
    }

    private func success(_ members: String) -> Answer {
        Answer(.ok, type: "application/json", text: "{\"Code\":1000,\(members)}")
    }

    private func failure(_ status: Int, _ code: Int, _ message: String) -> Answer {
        Answer(
            .init(code: status), type: "application/json",
            text: "{\"Code\":\(code),\"Error\":\(OCSValue.quoted(message))}")
    }
}
