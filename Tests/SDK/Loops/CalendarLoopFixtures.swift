import CLarder
import LarderFakeHost

/// The built calendar loop, with one calendar on a server.
struct CalendarAccount {
    let fixture: PluginFixture
    let server: CalendarServer
    var loop: String { server.path }

    init(settings: String = "{}") throws {
        fixture = try PluginFixture.opening(plugin: "CalendarLoop")
        server = CalendarServer(fixture)
        fixture.start("org.larder.calendar-loop", settings: settings)
        setDay(0)
        list()
    }

    /// Writes the calendar's record, as the core loop does before each turn.
    /// - Parameter identity: the text that distinguishes the calendar from another calendar at the same path.
    func list(withToken: Bool = true, identity: String? = nil) {
        var value = #"{"name":"Work","href":"\#(server.path)","components":["VEVENT"]"#
        if server.supportsSync { value += #","supportsSync":true"# }
        if server.supportsSync, withToken { value += ",\"syncToken\":\(quoted(server.token))" }
        if let identity { value += ",\"identity\":\(quoted(identity))" }
        value += #","ctag":"\#(server.ctag)"}"#
        fixture.put(record: server.path, in: "calendars", value: value)
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }

    /// Makes the core loop's turn and then the calendar loop's turns.
    @discardableResult func cycle(identity: String? = nil) -> Int {
        list(identity: identity)
        return fixture.pollAll(loop)
    }

    func setDay(_ day: Int64) {
        larder_fake_time(fixture.fake, (20_000 + day) * 86_400_000_000_000, day * 86_400_000_000_000)
    }

    var eventID: String? { fixture.eventID(of: loop) }
    var kept: [PluginFixture.Kept] { fixture.records(in: "calendars/" + loop) }

    /// The hrefs and contents that the loop keeps.
    var contents: [String: String] {
        Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.content ?? "") })
    }

    /// The objects requested by multigets, batch by batch.
    var batches: [[String]] {
        fixture.requests.filter { $0.body.contains("calendar-multiget") }.map { request in
            request.body.split(separator: "<href>").dropFirst().map { String($0.prefix { $0 != "<" }) }
        }
    }

    /// The requests for changes since a token, and the requests for the whole listing.
    var reports: [PluginFixture.Request] { fixture.requests.filter { $0.body.contains("sync-collection") } }
    var listings: [PluginFixture.Request] { fixture.requests.filter { $0.method == "PROPFIND" } }
}
