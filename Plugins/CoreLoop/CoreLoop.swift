public import LarderSDK

/// Keeps records of the account's calendars, its shares, and the account itself. The other loops come from these
/// records.
struct CoreLoop: EventLoop {
    static let description = PluginDescription(
        id: "org.larder.core-loop", name: "Core loop", version: "0.1.0", vendor: "Larder",
        summary: "Keeps the account's calendars, shares, name and quota known",
        required: [.config, .records, .http, .dav, .discover, .clock], wanted: [.log])
    static let kind = "core"
    static let hints: HintSet = [.shares, .account]
    static let settingsSchema: String? = """
        {"properties": {
        "interval": {"type": "string", "format": "duration", "default": "60s", "minimum": 1000, \
        "heeded-as": "poll-interval", \
        "description": "the time between two polls of a loop, for all plugins"},
        "events": {"type": "object", "description": "asks an events endpoint in plain JSON instead of CalDAV and OCS", \
        "properties": {"url": {"type": "string", \
        "description": "the endpoint's address, at the account's server: a path or a whole address"}}}}}
        """

    private let records: Host.Records
    private let clock: Host.Clock
    private let feed: FeedSource?
    private var calendars: CalendarSource
    private var sharing: OCS
    private var shares: ShareSource
    private var account = AccountSource()

    init(host: Host) throws(PluginError) {
        records = try host.require(host.records, .records)
        clock = try host.require(host.clock, .clock)
        let http = try host.require(host.http, .http)
        let dav = try host.require(host.dav, .dav)
        let discover = try host.require(host.discover, .discover)
        calendars = CalendarSource(discover: discover, dav: dav)
        sharing = OCS(http: http)
        shares = ShareSource(log: host.log, discover: discover, dav: dav)
        feed = try host.settings()["events"]?["url"]?.string.map { FeedSource(http, url: $0) }
        account.dav = dav
    }

    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Changes> {
        if let feed { return try feed.poll(since: eventID, records) { self.listShares() } }
        let (changes, digest, failure) = try list()
        // A person may have to decide about removals, which must not delay the rest.
        if let news = changes.newsAlone { return EventPage(eventID: digest, more: true, content: news) }
        if let failure {
            // The results of the others are kept first. The turn after it has only the failure left.
            guard !changes.isEmpty else { throw failure }
            return EventPage(eventID: digest, more: true, content: changes)
        }
        return EventPage(eventID: digest, content: changes)
    }

    mutating func process(_ page: EventPage<Changes>, of loop: String) throws(PluginError) {
        try page.content.apply(to: records)
    }

    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
        if let feed {
            let anchor = try feed.latest()
            var changes = Changes()
            try changes.add(feed.calendars(records), records)
            try changes.add(listShares(), records)
            try changes.apply(to: records)
            return Anchor(eventID: anchor)
        }
        let (changes, digest, failure) = try list()
        if let failure, changes.isEmpty { throw failure }
        let news = changes.newsAlone
        try (news ?? changes).apply(to: records)
        return Anchor(eventID: digest, more: failure != nil || news != nil)
    }

    /// Lists everything.
    /// - Returns: The differences from the records, a digest of everything, and the error of a source that failed.
    private mutating func list() throws(PluginError) -> (Changes, digest: String, PluginError?) {
        let now = try clock.now()
        let foundCalendars = calendars.list(now, records)
        sharing.base = calendars.base
        let foundShares = shares.list(&sharing, now, records)
        let foundAccount = account.list(&sharing, now, records, calendars.quota)
        var changes = Changes()
        var digest = Digest()
        var failure: PluginError?
        var isOffered = false
        for outcome in [foundCalendars, foundShares, foundAccount] {
            switch outcome {
            case .found(let found):
                isOffered = true
                try changes.add(found, records)
                digest.add(found)
            case .notOffered: digest.add("-")
            case .unknown:
                // If nothing were offered, the loop would rest for a day.
                isOffered = true
                digest.add("?")
            case .failed(let error):
                if error.status == .cancelled { throw error }
                failure = failure ?? error
                digest.add("!")
            }
        }
        if let failure { return (changes, digest.text, failure) }
        guard isOffered else {
            throw PluginError(.unsupported, "the server offers neither calendars nor shares nor an account's data")
        }
        return (changes, digest.text, nil)
    }

    /// Lists the shares only.
    private func listShares() -> Outcome {
        do throws(PluginError) {
            var (sharing, shares) = (sharing, shares)
            return shares.list(&sharing, try clock.now(), records)
        } catch {
            return .failed(error)
        }
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(CoreLoop.self, to: module)
}
