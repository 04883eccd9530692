import Synchronization

/// The pages of a server's plain JSON events: below `/events`, one channel for each loop, such as `core`,
/// `calendar/c1` or `share/s1`.
public final class EventFeed: Sendable {
    /// What happened between two event ids.
    public struct Page: Sendable {
        /// Members of the page's object: `"Calendars":[{"ID":"c1","Action":0}]`.
        public var fields: String
        /// A mask; 255 is everything.
        public var refresh: Int

        public init(_ fields: String = "", refresh: Int = 0) { (self.fields, self.refresh) = (fields, refresh) }
    }

    struct Channel: Sendable {
        /// The pages, each with the id that it leads to.
        var pages: [(id: String, page: Page)] = []
        /// How many of them are dropped.
        var forgotten = 0
        /// What is listed, each a JSON object; nil: there is no listing.
        var listing: [String]?
        /// Bodies that are answered instead, first to last.
        var scripted: [String] = []
    }

    private let state = Mutex<[String: Channel]>([:])

    init() {}

    /// Opens a channel that nothing happened in yet; one that is there stays as it is.
    public func open(_ channel: String) {
        state.withLock { channels in
            if channels[channel] == nil { channels[channel] = Channel() }
        }
    }

    /// Adds a page to a channel, and opens it if it is not there.
    /// - Returns: the event id that it leads to.
    @discardableResult public func add(_ page: Page, to channel: String) -> String {
        state.withLock { channels in
            let number = channels[channel, default: Channel()].pages.count + 1
            let id = Self.id(number)
            channels[channel, default: Channel()].pages.append((id, page))
            return id
        }
    }

    /// Answers the next polls of a channel with these bodies, whatever they ask for.
    public func script(_ bodies: [String], in channel: String) {
        state.withLock { $0[channel, default: Channel()].scripted += bodies }
    }

    /// Drops all pages of a channel: whoever polls from an older id has to fetch everything.
    public func forgetPages(of channel: String) {
        state.withLock { channels in
            let count = channels[channel]?.pages.count ?? 0
            channels[channel]?.forgotten = count
        }
    }

    /// Lists these in a channel, JSON objects with an `ID`: calendars in `core`, events in `calendar/c1`. Without this it has no listing.
    public func list(_ things: [String], in channel: String) {
        state.withLock { $0[channel, default: Channel()].listing = things }
    }

    public func close(_ channel: String) { state.withLock { $0[channel] = nil } }

    /// The newest event id of a channel.
    public func latest(_ channel: String) -> String? { state.withLock { $0[channel]?.latest } }

    func channel(_ name: String) -> Channel? { state.withLock { $0[name] } }

    func nextScripted(_ name: String) -> String? {
        state.withLock { channels in
            guard channels[name]?.scripted.isEmpty == false else { return nil }
            return channels[name]?.scripted.removeFirst()
        }
    }

    /// Opaque, with characters that mean something in an address.
    static func id(_ number: Int) -> String { "ev\(number)-larder==" }
}

extension EventFeed.Channel {
    var latest: String { pages.last?.id ?? EventFeed.id(0) }

    /// How many pages lead to an id; nil if it is none of this channel's.
    func count(to id: String) -> Int? {
        id == EventFeed.id(0) ? 0 : pages.firstIndex { $0.id == id }.map { $0 + 1 }
    }
}
