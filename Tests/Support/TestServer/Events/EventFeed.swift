import Synchronization

/// The pages of a server's plain JSON events: below `/events`, one channel for each loop, such as `core`, `calendar/c1`
/// or `share/s1`.
public final class EventFeed: Sendable {
    /// A page: the changes between two event ids.
    public struct Page: Sendable {
        /// The members of the page's object, such as `"Calendars":[{"ID":"c1","Action":0}]`.
        public var fields: String
        /// The refresh mask; 255 is everything.
        public var refresh: Int

        public init(_ fields: String = "", refresh: Int = 0) { (self.fields, self.refresh) = (fields, refresh) }
    }

    struct Channel: Sendable {
        /// The pages, each with the event id that it leads to.
        var pages: [(id: String, page: Page)] = []
        /// The number of pages that are dropped.
        var forgotten = 0
        /// The listed things, each a JSON object; nil if the channel has no listing.
        var listing: [String]?
        /// The bodies that are sent in place of the next answers, in order.
        var scripted: [String] = []
    }

    private let state = Mutex<[String: Channel]>([:])

    init() {}

    /// Opens a channel without pages. An open channel stays as it is.
    public func open(_ channel: String) {
        state.withLock { channels in
            if channels[channel] == nil { channels[channel] = Channel() }
        }
    }

    /// Adds a page to a channel, and opens the channel if necessary.
    /// - Returns: the event id that the page leads to.
    @discardableResult public func add(_ page: Page, to channel: String) -> String {
        state.withLock { channels in
            let number = channels[channel, default: Channel()].pages.count + 1
            let id = Self.id(number)
            channels[channel, default: Channel()].pages.append((id, page))
            return id
        }
    }

    /// Answers the next polls of a channel with these bodies, whatever the polls ask for.
    public func script(_ bodies: [String], in channel: String) {
        state.withLock { $0[channel, default: Channel()].scripted += bodies }
    }

    /// Drops all pages of a channel. A client that polls from an older id then has to fetch everything.
    public func forgetPages(of channel: String) {
        state.withLock { channels in
            let count = channels[channel]?.pages.count ?? 0
            channels[channel]?.forgotten = count
        }
    }

    /// Sets the listing of a channel: JSON objects with an `ID`, calendars in `core`, events in `calendar/c1`. A
    /// channel has no listing by default.
    public func list(_ things: [String], in channel: String) {
        state.withLock { $0[channel, default: Channel()].listing = things }
    }

    /// Closes a channel and drops its pages.
    public func close(_ channel: String) { state.withLock { $0[channel] = nil } }

    /// Returns the newest event id of a channel; nil if the channel is closed.
    public func latest(_ channel: String) -> String? { state.withLock { $0[channel]?.latest } }

    func channel(_ name: String) -> Channel? { state.withLock { $0[name] } }

    func nextScripted(_ name: String) -> String? {
        state.withLock { channels in
            guard channels[name]?.scripted.isEmpty == false else { return nil }
            return channels[name]?.scripted.removeFirst()
        }
    }

    /// Returns an opaque event id, with characters that have a meaning in an address.
    static func id(_ number: Int) -> String { "ev\(number)-larder==" }
}

extension EventFeed.Channel {
    var latest: String { pages.last?.id ?? EventFeed.id(0) }

    /// Returns the number of pages that lead to an id; nil if the id does not belong to this channel.
    func count(to id: String) -> Int? {
        id == EventFeed.id(0) ? 0 : pages.firstIndex { $0.id == id }.map { $0 + 1 }
    }
}
