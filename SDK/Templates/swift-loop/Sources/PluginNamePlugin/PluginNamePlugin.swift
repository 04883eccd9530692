public import LarderSDK

struct PluginNamePlugin: EventLoop {
    /// The id is for good: put a domain of your own in the place of `org.example`.
    static let description = PluginDescription(
        id: "org.example.plugin-name", name: "Plugin name", version: "1.0.0", required: [.http, .records])
    static let kind = "org.example.plugin-name"

    private let http: Host.HTTP
    private let records: Host.Records

    init(host: Host) throws(PluginError) {
        http = try host.require(host.http, .http)
        records = try host.require(host.records, .records)
    }

    /// Changes nothing: what it found is the page's content.
    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<[JSON]> {
        let (news, newest) = try news(after: eventID)
        return EventPage(eventID: newest, content: news)
    }

    /// What is asked for here is committed with the page's event id.
    mutating func process(_ page: EventPage<[JSON]>, of loop: String) throws(PluginError) {
        for item in page.content {
            guard let id = item["id"]?.string else { continue }
            try records.put(Record(key: id, value: item.text), in: "org.example.plugin-name")
        }
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        let (news, newest) = try news(after: "0")
        try process(EventPage(eventID: newest, content: news), of: loop)
        return Anchor(eventID: newest)
    }

    /// Requests go to the account's server alone, with its credentials, which a plugin never sees.
    private func news(after id: String) throws(PluginError) -> ([JSON], newest: String) {
        var answer = try http.send("GET", "/apps/plugin-name/since/\(id)")
        guard answer.status != 404 else { throw PluginError(.unsupported, "the server has no news") }
        guard answer.status == 200 else { throw PluginError(.io, "the server answered \(answer.status)") }
        let body = try answer.body()
        let json = try JSON(parsing: body.span)
        guard let newest = json["newest"]?.string else { throw PluginError(.io, "the news have no newest id") }
        return (json["items"]?.array ?? [], newest)
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(PluginNamePlugin.self, to: module)
}
