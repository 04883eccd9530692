import LarderSDK

/// Watches each shared file or folder by its ETag, so that the item list looks there as soon as somebody changes it; and finds out
/// whether a share that is not listed any more is really gone.
struct ShareLoop: EventLoop {
    static let description = PluginDescription(
        id: "org.larder.share-loop", name: "Share loop", version: "0.1.0", vendor: "Larder",
        summary: "Notices changes of what is shared at once",
        required: [.config, .records, .http, .dav, .discover, .actions])
    static let kind = "share"
    static let collection: String? = "shares"
    static let hints: HintSet = [.items, .shares]
    static let settingsSchema: String? = """
        {"properties": {
        "events": {"type": "object", "description": "asks an events endpoint in plain JSON in place of the share's root", \
        "properties": {"url": {"type": "string", \
        "description": "the endpoint's address, at the account's server: a path or a whole address"}}}}}
        """

    /// What a poll came to.
    enum Finding {
        case nothing
        /// The item list is to look at this path.
        case changed(path: String)
        /// The server does not have the share any more.
        case gone
        /// A share that was not listed is there after all.
        case there(Record)
    }

    private let records: Host.Records
    private let discover: Host.Discover
    private let dav: Host.DAV
    private let actions: Host.Actions
    private let confirmation: Confirmation
    private let feed: EventFeed?

    init(host: Host) throws(PluginError) {
        records = try host.require(host.records, .records)
        discover = try host.require(host.discover, .discover)
        dav = try host.require(host.dav, .dav)
        actions = try host.require(host.actions, .actions)
        let http = try host.require(host.http, .http)
        confirmation = Confirmation(http: http)
        feed = try host.settings()["events"]?["url"]?.string.map { EventFeed(http, url: $0) }
    }

    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Finding> {
        let share = try share(loop)
        // Missing in one listing may be an accident of the server's.
        if share.missing > 1 {
            let isGone = try confirmation.isGone(share, home: discover.filesHome())
            return EventPage(eventID: eventID, content: isGone ? .gone : .there(share.found))
        }
        if let feed {
            guard let page = try feed.page("drive/shares/\(EventFeed.escaped(loop))/events", since: eventID),
                page.refresh.isEmpty
            else { return EventPage(eventID: eventID, refresh: .everything, content: .nothing) }
            let hasEvents = !(page.json["Events"]?.array ?? []).isEmpty
            return EventPage(
                eventID: page.eventID, more: page.more,
                content: hasEvents ? share.path.map { .changed(path: $0) } ?? .nothing : .nothing)
        }
        let now = try state(of: share)
        // It was away, and what happened meanwhile nobody told.
        if eventID == Self.absent, now != Self.absent {
            return EventPage(eventID: now, refresh: .everything, content: .nothing)
        }
        let isSame = now.utf8.elementsEqual(eventID.utf8)
        return EventPage(
            eventID: now, content: isSame ? .nothing : share.path.map { .changed(path: $0) } ?? .nothing)
    }

    mutating func process(_ page: EventPage<Finding>, of loop: String) throws(PluginError) {
        switch page.content {
        case .nothing: break
        case .changed(let path): try actions.look(at: path)
        case .gone: try records.remove(loop, from: "shares")
        case .there(let record): try records.put(record, in: "shares")
        }
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        let share = try share(loop)
        let anchor: String
        if let feed {
            anchor = try feed.latest("drive/shares/\(EventFeed.escaped(loop))/events/latest")
        } else {
            anchor = try state(of: share)
        }
        if anchor != Self.absent, let path = share.path { try actions.look(at: path) }
        return Anchor(eventID: anchor)
    }

    /// The event id of a share whose root is not in the tree: it was not accepted, or its storage is away.
    private static let absent = "absent"

    /// The ETag of the share's root.
    private func state(of share: Share) throws(PluginError) -> String {
        guard share.isAccepted, let path = share.path else { return Self.absent }
        let names = path.split(separator: "/").map { EventFeed.escaped(String($0)) }
        var answer = try dav.propfind(
            try discover.filesHome() + names.joined(separator: "/"), depth: 0, ["{DAV:}getetag"])
        if answer.status == 404 { return Self.absent }
        guard answer.status == 207 else {
            throw PluginError(.io, "the server answered \(answer.status) for the shared \(path)")
        }
        var found: String?
        while let response = try answer.next() {
            if response.status == 404 { return Self.absent }
            found = found ?? response.values.first ?? nil
        }
        guard let found else { throw PluginError(.io, "the server gives the shared \(path) no ETag") }
        return "etag:" + found
    }

    private func share(_ id: String) throws(PluginError) -> Share {
        guard let record = try records.record(id, in: "shares") else {
            throw PluginError(.notFound, "there is no share \(id) any more")
        }
        return try Share(record)
    }
}
