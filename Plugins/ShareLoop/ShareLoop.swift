public import LarderSDK

/// Watches the ETag of each file or folder that is shared with the account, so that the item list checks it as soon as
/// somebody changes it. Also
/// finds out whether a share that is missing from the lists is really gone.
struct ShareLoop: EventLoop {
    static let description = PluginDescription(
        id: "org.larder.share-loop", name: "Share loop", version: "0.1.0", vendor: "Larder",
        summary: "Notices changes of shared files and folders at once",
        required: [.config, .records, .http, .dav, .discover, .actions, .clock])
    static let kind = "share"
    static let collection: String? = "shares"
    static let hints: HintSet = [.items, .shares]
    static let settingsSchema: String? = """
        {"properties": {
        "events": {"type": "object", "description": \
        "asks an events endpoint in plain JSON instead of the share's root", \
        "properties": {"url": {"type": "string", \
        "description": "the endpoint's address, at the account's server: a path or a whole address"}}}}}
        """

    /// The result of a poll.
    enum Finding {
        case nothing
        /// The item list must check this path.
        case changed(path: String)
        /// The server no longer has the share.
        case gone
    }

    private let records: Host.Records
    private let discover: Host.Discover
    private let actions: Host.Actions
    private let confirmation: Confirmation
    private let feed: EventFeed?
    private var roots: SharedRoots

    init(host: Host) throws(PluginError) {
        records = try host.require(host.records, .records)
        discover = try host.require(host.discover, .discover)
        roots = SharedRoots(
            records, try host.require(host.dav, .dav), try host.require(host.clock, .clock))
        actions = try host.require(host.actions, .actions)
        let http = try host.require(host.http, .http)
        confirmation = Confirmation(http: http)
        feed = try host.settings()["events"]?["url"]?.string.map { EventFeed(http, url: $0) }
    }

    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Finding> {
        let share = try share(loop)
        // A single listing without the share may be a mistake of the server's.
        if share.missing > 1, try confirmation.isGone(share, home: discover.filesHome()) {
            return EventPage(eventID: eventID, content: .gone)
        }
        var page = EventPage(eventID: Self.absent, content: Finding.nothing)
        var isChanged = eventID != Self.absent
        if let feed, share.isAccepted {
            // Changes while the share was not accepted are unknown.
            guard isChanged, let told = try feed.page(Self.events(loop), since: eventID), told.refresh.isEmpty else {
                return EventPage(eventID: eventID, refresh: .everything, content: .nothing)
            }
            (page.eventID, page.more) = (told.eventID, told.more)
            isChanged = told.json["Events"]?.array?.isEmpty == false
        } else if feed == nil {
            page.eventID = try state(of: share, loop, known: eventID)
            // The share was away, and changes during that time are unknown.
            if !isChanged, page.eventID != Self.absent {
                return EventPage(eventID: page.eventID, refresh: .everything, content: .nothing)
            }
            isChanged = page.eventID != Self.scanned && !page.eventID.utf8.elementsEqual(eventID.utf8)
        }
        if isChanged, let path = share.path { page.content = .changed(path: path) }
        return page
    }

    mutating func process(_ page: EventPage<Finding>, of loop: String) throws(PluginError) {
        switch page.content {
        case .nothing: break
        case .changed(let path): try actions.look(at: path)
        case .gone: try records.remove(loop, from: "shares")
        }
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        let share = try share(loop)
        let anchor: String
        if let feed {
            anchor = share.isAccepted ? try feed.latest(Self.events(loop) + "/latest") : Self.absent
        } else {
            anchor = try state(of: share, loop)
        }
        if anchor != Self.absent, anchor != Self.scanned, let path = share.path { try actions.look(at: path) }
        return Anchor(eventID: anchor)
    }

    /// The event id of a share whose root is not in the tree: the share is not accepted, or its storage is unreachable.
    private static let absent = "absent"

    /// Returns the path of a share's events below an events endpoint.
    private static func events(_ id: String) -> String { "drive/shares/\(EventFeed.escaped(id))/events" }

    /// The event id of a share that the account shares itself: the scan sees what changes in it.
    private static let scanned = "scanned"

    /// Returns the event id that stands for the state of the share's root.
    /// - Parameter known: The event id so far, which stays if it is not the share's turn to be asked for.
    private mutating func state(of share: Share, _ loop: String, known: String? = nil) throws(PluginError) -> String {
        guard share.isAccepted, let path = share.path else { return Self.absent }
        if share.isOwn { return Self.scanned }
        let home = try discover.filesHome()
        switch try roots.state(of: path, for: loop, in: home, mayRest: known != nil) {
        case .etag(let etag): return "etag:" + etag
        case .absent: return Self.absent
        case .unasked: return known ?? Self.absent
        }
    }

    private func share(_ id: String) throws(PluginError) -> Share {
        guard let record = try records.record(id, in: "shares") else {
            throw PluginError(.notFound, "the share \(id) no longer exists")
        }
        return try Share(record)
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(ShareLoop.self, to: module)
}
